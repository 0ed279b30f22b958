"""Makes a Llava of 100 MB with random weights, for the benchmark of a photo's first token: `photo_model.py FOLDER`. No
package has the weights of a model that reads pictures."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/models/pictures"))
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import fixed_size  # noqa: E402

SIDE, PATCH = 224, 16


def build(tokenizer):
    ids = {key: getattr(tokenizer, key) for key in ("bos_token_id", "eos_token_id", "pad_token_id")}
    text = {
        "model_type": "llama", "hidden_size": 384, "intermediate_size": 1024, "num_hidden_layers": 6, "num_attention_heads": 6, "num_key_value_heads": 6, "head_dim": 64, "max_position_embeddings": 1024,
        "vocab_size": len(tokenizer), "tie_word_embeddings": False, **ids}
    vision = {"model_type": "clip_vision_model", "projection_dim": 384, "hidden_size": 384, "intermediate_size": 1536, "num_hidden_layers": 7, "num_attention_heads": 6, "image_size": SIDE, "patch_size": PATCH}
    config = transformers.LlavaConfig(
        text_config=text, vision_config=vision, image_token_index=tokenizer.convert_tokens_to_ids("<image>"), image_seq_length=(SIDE // PATCH) ** 2, vision_feature_layer=-2,
        vision_feature_select_strategy="default", tie_word_embeddings=False)
    config._attn_implementation = "eager"
    images = transformers.CLIPImageProcessor(size={"shortest_edge": SIDE}, crop_size={"height": SIDE, "width": SIDE})
    processor = transformers.LlavaProcessor(images, tokenizer, patch_size=PATCH, vision_feature_select_strategy="default", chat_template=fixed_size.TEMPLATES["llava"], num_additional_image_tokens=1)
    torch.manual_seed(0)
    return transformers.LlavaForConditionalGeneration(config).eval(), processor


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1])
    (folder / "onnx").mkdir(parents=True, exist_ok=True)
    tokenizer = fixed_size.tokenizer_of("llava", pathlib.Path(fixed_size.__file__).parent / "llava", [])
    model, processor = build(tokenizer)
    model.config.save_pretrained(folder)
    model.generation_config.save_pretrained(folder)
    processor.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(fixed_size.TEMPLATES["llava"])
    table = fixed_size.export(model, folder / "onnx", lambda graph: graph, side=SIDE)
    value = lambda name, kind, dims: helper.make_tensor_value_info(name, kind, dims)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["inputs_embeds"])], "embed_tokens", [value("input_ids", TensorProto.INT64, ["batch_size", "sequence_length"])],
        [value("inputs_embeds", TensorProto.FLOAT, ["batch_size", "sequence_length", table.shape[1]])], [numpy_helper.from_array(table.astype(np.float32), "table")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "onnx/embed_tokens.onnx")
