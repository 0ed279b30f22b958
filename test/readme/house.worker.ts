import { BaseHandler, compileTransforms, compose, expose, resize, tensors, toTensor, unwrap } from 'tabserve/worker';
import type { Context, ImageInput, Row, Tensors } from 'tabserve/worker';

/** What a visitor enters. */
export interface House {
  readonly photo: ImageInput;
  readonly rooms: number;
  /** Square meters. */
  readonly area: number;
}

const transforms = compileTransforms(compose(resize([32, 32]), toTensor()));

export class HousePrice extends BaseHandler<House, number> {
  /** → photo [rows, 3, 32, 32] and facts [rows, 2], the names of the model's inputs. */
  override async preprocess(data: readonly Row<House>[], context: Context): Promise<Tensors> {
    const rows = await Promise.all(
      data.map(async (item) => {
        const { photo, rooms, area } = unwrap(item);
        const image = await transforms.run(await context.decodeImage(photo));
        return {
          photo: tensors.from(image),
          facts: tensors.from({ data: Float32Array.of(rooms, area / 100), dims: [2] }),
        };
      }),
    );
    return {
      photo: tensors.stack(rows.map(({ photo }) => photo)),
      facts: tensors.stack(rows.map(({ facts }) => facts)),
    };
  }

  /** price [rows, 1] → thousands. */
  override postprocess({ price }: Tensors): number[] {
    return [...tensors.toFloats(price!)];
  }
}

expose(HousePrice);
