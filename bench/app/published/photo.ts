/** A question about a photo: ours, and what one writes without a library. */
import { AutoTokenizer, env } from '@huggingface/transformers';
import type { Tensor } from 'onnxruntime-web';
import { load } from '../../../src/index.ts';

export interface PhotoOptions {
  /** The name of the repository: a Llava in fp32. */
  readonly name: string;
  readonly warmUps: number;
  readonly rounds: number;
}

type Name = 'ours' | 'byHand';

/** On one thread: milliseconds from a photo and a question to the first token, of each round, and the tokens. */
export interface Photos {
  readonly times: Readonly<Record<Name, readonly number[]>>;
  readonly texts: Readonly<Record<Name, readonly string[]>>;
}

const [WIDTH, HEIGHT] = [1280, 960];
const QUESTION = 'What is in this photo?';
const PROMPT = `USER: <image>\n${QUESTION} ASSISTANT:`;
/** CLIP's. */
const MEAN = [0.48145466, 0.4578275, 0.40821073];
const DEVIATION = [0.26862954, 0.26130258, 0.27577711];

export async function firstOfPhoto({ name, warmUps, rounds }: PhotoOptions): Promise<Photos> {
  const client = await load<'image_text_to_text'>(`/weights/${name}/`, {
    handler: 'image_text_to_text',
    backends: ['wasm'],
    cache: 'none',
    config: { engine: { threads: 1, dtype: 'fp32' } },
  });
  const contenders: Readonly<Record<Name, (photo: Blob) => Promise<string>>> = {
    async ours(photo) {
      const content = [
        { type: 'image', image: photo },
        { type: 'text', text: QUESTION },
      ] as const;
      const messages = [{ role: 'user', content }];
      const { text, usage } = await client.predict({ messages } as never, { params: { maxNewTokens: 1 } });
      if (usage.completionTokens !== 1) throw new Error(`Ours has written ${usage.completionTokens} tokens.`);
      return text;
    },
    byHand: await openByHand(name),
  };
  const names = Object.keys(contenders) as Name[];
  const times: Record<Name, number[]> = { ours: [], byHand: [] };
  const texts: Record<Name, string[]> = { ours: [], byHand: [] };
  for (let round = -warmUps; round < rounds; round++) {
    const photo = await photoOf(round);
    for (let turn = 0; turn < names.length; turn++) {
      const one = names[(round + warmUps + turn) % names.length]!;
      const since = performance.now();
      const text = await contenders[one](photo);
      if (round < 0) continue;
      times[one].push(performance.now() - since);
      texts[one].push(text);
    }
  }
  await client.dispose();
  return { times, texts };
}

/** ONNX Runtime on the page, a canvas, and three models. */
async function openByHand(name: string): Promise<(photo: Blob) => Promise<string>> {
  const ort = await import('onnxruntime-web/wasm');
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = { wasm: new URL('onnxruntime-web/ort-wasm-simd-threaded.wasm', import.meta.url) };
  const open = async (file: string) =>
    await ort.InferenceSession.create(
      new Uint8Array(await (await fetch(`/weights/${name}/onnx/${file}.onnx`)).arrayBuffer()),
      { executionProviders: ['wasm'] },
    );
  const [vision, embed, decoder] = [
    await open('vision_encoder'),
    await open('embed_tokens'),
    await open('decoder_model_merged'),
  ];
  const config = (await (await fetch(`/weights/${name}/config.json`)).json()) as {
    readonly image_token_index: number;
    readonly vision_config: { readonly image_size: number };
    readonly text_config: { readonly num_attention_heads: number; readonly head_dim: number };
  };
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.localModelPath = '/weights/';
  const tokenizer = await AutoTokenizer.from_pretrained(name);
  const integers = (values: readonly number[]): Tensor =>
    new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
  const { num_attention_heads: heads, head_dim: size } = config.text_config;
  const nothing = (): Tensor => new ort.Tensor('float32', new Float32Array(0), [1, heads, 0, size]);
  return async (photo) => {
    const side = config.vision_config.image_size;
    const pixels = new ort.Tensor('float32', await pixelsOf(photo, side), [1, 3, side, side]);
    const { image_features: features } = await vision.run({ pixel_values: pixels });
    const [, count, width] = features!.dims as readonly [number, number, number];
    const ids = Array.from(tokenizer(PROMPT).input_ids.data as BigInt64Array, Number).flatMap((id) =>
      id === config.image_token_index ? Array.from({ length: count }, () => id) : [id],
    );
    const { inputs_embeds: embeds } = await embed.run({ input_ids: integers(ids) });
    (embeds!.data as Float32Array).set(features!.data as Float32Array, ids.indexOf(config.image_token_index) * width);
    const { logits } = await decoder.run({
      inputs_embeds: embeds!,
      attention_mask: integers(ids.map(() => 1)),
      position_ids: integers(ids.map((_, at) => at)),
      ...Object.fromEntries(decoder.inputNames.filter((one) => one.startsWith('past')).map((one) => [one, nothing()])),
    });
    const last = (logits!.data as Float32Array).subarray(-logits!.dims.at(-1)!);
    let best = 0;
    for (let token = 1; token < last.length; token++) if (last[token]! > last[best]!) best = token;
    return tokenizer.decode([best], { skip_special_tokens: true });
  };
}

/** Returns the middle of a photo as CLIP's tensor, resized by a canvas. */
async function pixelsOf(photo: Blob, side: number): Promise<Float32Array> {
  const bitmap = await createImageBitmap(photo);
  const canvas = new OffscreenCanvas(side, side);
  const context = canvas.getContext('2d', { willReadFrequently: true })!;
  const scale = side / Math.min(bitmap.width, bitmap.height);
  const [width, height] = [bitmap.width * scale, bitmap.height * scale];
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, (side - width) / 2, (side - height) / 2, width, height);
  bitmap.close();
  const { data } = context.getImageData(0, 0, side, side);
  const pixels = new Float32Array(3 * side * side);
  for (let at = 0; at < side * side; at++)
    for (let channel = 0; channel < 3; channel++)
      pixels[channel * side * side + at] = (data[at * 4 + channel]! / 255 - MEAN[channel]!) / DEVIATION[channel]!;
  return pixels;
}

/** A JPEG that no round before had: ours keeps what it has seen of a picture. */
async function photoOf(round: number): Promise<Blob> {
  const canvas = new OffscreenCanvas(WIDTH, HEIGHT);
  const context = canvas.getContext('2d')!;
  for (let at = 0; at < 400; at++) {
    context.fillStyle = `hsl(${(at * 47 + round * 31) % 360} 60% ${30 + ((at * 13) % 50)}%)`;
    context.fillRect((at * 197) % WIDTH, (at * 139 + round) % HEIGHT, 40 + ((at * 29) % 200), 30 + ((at * 31) % 150));
  }
  return await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.9 });
}
