"""Models that write a text about an image: greedy tokens and beams of transformers' `generate`, decoded as its pipeline does."""
import pathlib

import torch
from optimum.exporters.onnx import main_export
from transformers import (
    DeiTConfig, DeiTImageProcessor, GenerationConfig, GPT2Config, TrOCRConfig, ViTConfig, ViTImageProcessor, VisionEncoderDecoderConfig,
    VisionEncoderDecoderModel,
)

from common import answers, photo, save, spread, tokenizer_of

VISION = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "image_size": 32, "patch_size": 8}
SIDE = {"height": 32, "width": 32}


def trocr(encoder_class, kind, **fields):
    tokenizer = tokenizer_of(kind)
    decoder = TrOCRConfig(
        vocab_size=len(tokenizer), d_model=16, decoder_layers=2, decoder_attention_heads=2, decoder_ffn_dim=24, max_position_embeddings=64, cross_attention_hidden_size=16,
        pad_token_id=tokenizer.pad_token_id, bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, decoder_start_token_id=tokenizer.eos_token_id, **fields)
    return encoder_class(**VISION), decoder, tokenizer


def gpt2(kind):
    tokenizer = tokenizer_of(kind)
    decoder = GPT2Config(
        vocab_size=len(tokenizer), n_positions=64, n_embd=16, n_layer=2, n_head=2, bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id, decoder_start_token_id=tokenizer.bos_token_id)
    return ViTConfig(**VISION), decoder, tokenizer


CONFIGS = [
    ("read-trocr", lambda: trocr(ViTConfig, "byte_level"), lambda: ViTImageProcessor(size=SIDE)),
    # As the small ones are: DeiT, SentencePiece, and positions that are computed.
    ("read-trocr-small", lambda: trocr(DeiTConfig, "unigram", use_learned_position_embeddings=False, scale_embedding=True), lambda: DeiTImageProcessor(size=SIDE, do_center_crop=False)),
    ("caption-vit-gpt2", lambda: gpt2("byte_level"), lambda: ViTImageProcessor(size=SIDE)),
]
QUESTIONS = [((61, 47), {}), ((40, 80), {}), ((40, 80), {"numBeams": 3})]
TOKENS = 12


def merged(source, target):
    main_export(source, target, task="image-to-text-with-past", do_validation=False, device="cpu")
    for file in pathlib.Path(target).glob("decoder*.onnx"):
        if file.stem != "decoder_model_merged":
            file.unlink()


def varied(config, processor):
    """The first weights whose answers to all photos have several tokens, and differ."""
    for seed in range(200):
        torch.manual_seed(seed)
        model = spread(VisionEncoderDecoderModel(config), seed, scale=0.5)
        model.generation_config = GenerationConfig.from_model_config(config)
        with torch.no_grad():
            found = [model.generate(processor(photo(*size), return_tensors="pt").pixel_values, max_new_tokens=TOKENS, do_sample=False)[0].tolist() for size in ((61, 47), (40, 80))]
        if found[0] != found[1] and all(len(set(ids)) > 5 for ids in found):
            return model
    raise SystemExit("No weights give several tokens.")


def make():
    rows = []
    for repository, parts, processor_class in CONFIGS:
        encoder, decoder, tokenizer = parts()
        processor = processor_class()
        config = VisionEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
        config.decoder_start_token_id, config.pad_token_id, config.eos_token_id = decoder.decoder_start_token_id, decoder.pad_token_id, decoder.eos_token_id
        model = varied(config, processor)
        save(repository, model, [tokenizer, processor], merged)
        requests = []
        for size, params in QUESTIONS:
            pixels = processor(photo(*size), return_tensors="pt").pixel_values
            with torch.no_grad():
                [ids] = model.generate(pixels, max_new_tokens=TOKENS, do_sample=False, num_beams=params.get("numBeams", 1)).tolist()
            # Without the token that the decoder begins with.
            answer = {"text": tokenizer.decode(ids, skip_special_tokens=True), "usage": {"promptTokens": 0, "completionTokens": len(ids) - 1}}
            print(repository, size, params, ids, answer)
            requests.append({"input": {"photo": size}, "params": {"maxNewTokens": TOKENS, **params}, "answer": answer})
        rows.append({"architecture": f"VisionEncoderDecoderModel ({type(decoder).__name__.removesuffix('Config')})", "repository": repository, "requests": requests})
    answers("image_to_text", rows)
