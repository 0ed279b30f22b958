"""Makes language models of real architectures with random weights, below 400 kB each, in the layout of Hugging Face's
repositories, and `expected.json`: what transformers itself answers with them.

    python test/models/generation/make.py [NAME ...]

Needs torch, transformers 4.57, accelerate, optimum-onnx, onnx, onnxruntime, onnxruntime-genai 0.9 and tokenizers. The weights come from a
fixed seed. Each model is exported by optimum, as repositories on the Hub are, and its graph is run by ONNX Runtime in
Python before it is kept: its greedy tokens must be those of transformers.
"""
import json
import pathlib
import shutil
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import torch
import transformers
from optimum.exporters.onnx import main_export
from onnxruntime_genai.models import builder
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import GenerationConfig, PreTrainedTokenizerFast

HERE = pathlib.Path(__file__).parent
VOCABULARY = 480
TEXTS = """The cat sat on the mat and the dog lay by the door. Tell me a story about the sea, please.
A model that runs on the device of its visitor answers without a server. What is the time in London?
Once upon a time there was a small island in the northern sea, and on it stood a lighthouse with a green door.
Der Hund lief über die Brücke; die Straße war naß. Le garçon a mangé une pomme à l'école. ¿Dónde está la estación?
В лесу родилась ёлочка, в лесу она росла. 東京は日本の首都です。你好，世界。مرحبا بالعالم नमस्ते दुनिया 👋🏽 🙂 naïve café
one two three four five six seven eight nine ten 1 2 3 4 5 6 7 8 9 10 100 2026 {"name": "value", "list": [1, 2, 3]}
def main():\n    return 42\n\nif __name__ == "__main__":\n    main()\n""".split("\n")

CHAT = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
STRICT = (
    "{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    "{{ '[' + message['role'] + ']' + message['content'] | trim }}{% endfor %}"
)


def byte_level():
    """Byte-level BPE, as GPT-2, Llama 3, Qwen and SmolLM have it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=specials, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=CHAT)


def llama_like():
    """SentencePiece's BPE with byte fallback, as Llama 2, Phi-3 and Gemma have it."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    specials = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer.train_from_iterator(TEXTS[:4], trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=specials, show_progress=False))
    data = json.loads(tokenizer.to_str())
    data["added_tokens"] = data["added_tokens"][:3]
    tokenizer = Tokenizer.from_str(json.dumps(data))
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>", pad_token="</s>", chat_template=STRICT)


def unigram(pad, eos, unk, start=None):
    """SentencePiece's Unigram, as T5, Marian and mBART have it."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace("  ", " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    specials = [*([start] if start else []), pad, eos, unk]
    tokenizer.train_from_iterator(TEXTS, trainers.UnigramTrainer(vocab_size=320, special_tokens=specials, unk_token=unk, show_progress=False))
    eos_id = tokenizer.token_to_id(eos)
    single = f"{start} $A {eos}" if start else f"$A {eos}"
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, special_tokens=[(eos, eos_id), *([(start, tokenizer.token_to_id(start))] if start else [])])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token=unk, eos_token=eos, pad_token=pad, **({"bos_token": start} if start else {}))


CODES = ["deu_Latn", "eng_Latn", "fra_Latn"]


def multilingual():
    """NLLB's: the code of the text's language stands before it."""
    tokenizer = Tokenizer.from_str(unigram("<pad>", "</s>", "<unk>", "<s>").backend_tokenizer.to_str())
    return transformers.NllbTokenizerFast(
        tokenizer_object=tokenizer, mask_token="<unk>", src_lang="eng_Latn", additional_special_tokens=CODES)


SMALL = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 256, "tie_word_embeddings": True}

# name → (the class of its config, its fields, its tokenizer, the task)
CAUSAL = {
    "llama": (transformers.LlamaConfig, {**SMALL, "num_key_value_heads": 2, "head_dim": 16}, llama_like),
    "qwen3": (transformers.Qwen3Config, {**SMALL, "num_key_value_heads": 2, "head_dim": 16}, byte_level),
    "gemma3": (transformers.Gemma3TextConfig, {**SMALL, "num_key_value_heads": 1, "head_dim": 16, "query_pre_attn_scalar": 16, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"]}, llama_like),
    "phi3": (transformers.Phi3Config, {**SMALL, "num_key_value_heads": 4, "pad_token_id": 2, "original_max_position_embeddings": 256}, llama_like),
    "gpt2": (transformers.GPT2Config, {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 256}, byte_level),
    "gpt_neox": (transformers.GPTNeoXConfig, {**SMALL, "rotary_pct": 0.25}, byte_level),
    "smollm3": (transformers.SmolLM3Config, {**SMALL, "num_key_value_heads": 2, "pad_token_id": 0, "no_rope_layers": [1, 0]}, byte_level),
}
SEQ2SEQ = {
    "t5": (transformers.T5Config, {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}, lambda: unigram("<pad>", "</s>", "<unk>")),
    "bart": (transformers.BartConfig, {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_position_embeddings": 128}, lambda: unigram("<pad>", "</s>", "<unk>", "<s>")),
    "nllb": (transformers.M2M100Config, {"d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_position_embeddings": 128}, multilingual),
    "marian": (transformers.MarianConfig, {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "max_position_embeddings": 128, "scale_embedding": True}, lambda: unigram("<pad>", "</s>", "<unk>")),
}
AUTO = {False: transformers.AutoModelForCausalLM, True: transformers.AutoModelForSeq2SeqLM}
PROMPTS = ["Tell me a story about the sea", "What is the time in", "naïve café 👋🏽 東京"]
NEW_TOKENS = 24


def spread(model, seed):
    """Random weights of the usual size repeat one token for ever; these do not. Tied embeddings prefer the token that they are given, unless they are small."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            # Marian's positions are sinusoids, which loading makes anew.
            if value.ndim < 2 or (model.config.model_type == "marian" and "embed_positions" in name):
                continue
            if "embed_positions" in name:
                value.normal_(0, 1.5)
            elif any(part in name for part in ("embed", "shared", "wte", "wpe", "lm_head")):
                value.normal_(0, 0.1)
            else:
                value.normal_(0, 0.1 if "encoder_attn" in name else 0.5)


def is_varied(model, tokenizer):
    inputs = tokenizer(PROMPTS[0], return_tensors="pt")
    inputs.pop("token_type_ids", None)
    return len(set(model.generate(**inputs, do_sample=False, max_new_tokens=NEW_TOKENS)[0, -NEW_TOKENS:].tolist())) >= 10


def is_decided(model, tokenizer, prompt):
    """Whether each greedy token is ahead of the second one by more than engines differ."""
    inputs = tokenizer(prompt, return_tensors="pt")
    inputs.pop("token_type_ids", None)
    found = model.generate(**inputs, do_sample=False, max_new_tokens=NEW_TOKENS, output_logits=True, return_dict_in_generate=True)
    best = [logits[0].topk(2).values for logits in found.logits]
    return all(first - second > 1e-3 for first, second in best)


def make(name, config_class, fields, make_tokenizer, is_pair):
    # A Unigram's training has another result each time, so one that is there is kept.
    saved = HERE / name / "tokenizer.json"
    tokenizer_class = transformers.NllbTokenizerFast if name == "nllb" else PreTrainedTokenizerFast
    tokenizer = tokenizer_class.from_pretrained(HERE / name) if saved.exists() else make_tokenizer()
    ids = {key: getattr(tokenizer, f"{key}_token_id") for key in ("bos", "eos", "pad")}
    given = {f"{key}_token_id": value for key, value in ids.items() if value is not None}
    if name == "bart":
        given |= {"decoder_start_token_id": ids["eos"], "forced_bos_token_id": ids["bos"], "forced_eos_token_id": ids["eos"]}
    if name == "marian":
        given |= {"decoder_start_token_id": ids["pad"], "forced_eos_token_id": ids["eos"]}
    if name == "nllb":
        given |= {"decoder_start_token_id": ids["eos"]}
    if name == "t5":
        given |= {"decoder_start_token_id": ids["pad"]}
    config = config_class(vocab_size=len(tokenizer), **{**fields, **given})
    model = AUTO[is_pair].from_config(config, dtype=torch.float32, attn_implementation="eager").eval()
    for seed in range(100):
        spread(model, seed)
        model.tie_weights()
        if all(is_decided(model, tokenizer, prompt) for prompt in PROMPTS) and is_varied(model, tokenizer):
            break
    model.generation_config = GenerationConfig(
        max_new_tokens=NEW_TOKENS, **{key: value for key, value in given.items() if key in ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id", "forced_bos_token_id", "forced_eos_token_id")},
        **({"num_beams": 1} if is_pair else {}))
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as source, tempfile.TemporaryDirectory() as target:
        model.save_pretrained(source)
        tokenizer.save_pretrained(source)
        main_export(source, target, task="text2text-generation-with-past" if is_pair else "text-generation-with-past", do_validation=False, no_dynamic_axes=False, device="cpu")
        (folder / "onnx").mkdir(parents=True)
        parts = ["encoder_model.onnx", "decoder_model_merged.onnx"] if is_pair else ["model.onnx"]
        for part in parts:
            graph = onnx.load(pathlib.Path(target) / part)
            for node in graph.graph.node:
                node.doc_string = ""
            graph.doc_string = ""
            onnx.save(graph, folder / "onnx" / part)
        if name == "llama":
            make_fused(source)
        for file in ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
            if (pathlib.Path(source) / file).exists():
                shutil.copy(pathlib.Path(source) / file, folder / file)
    check(folder, model, tokenizer, is_pair)
    return model, tokenizer


def make_fused(source):
    """The same Llama as onnxruntime-genai's builder writes it: one GroupQueryAttention per layer, no position_ids, several precisions, and weights in files of their own."""
    folder = HERE / "llama_fused"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "onnx").mkdir(parents=True)
    for suffix, precision, provider, options in (
        ("", "fp32", "cpu", {}),
        ("_fp16", "fp16", "webgpu", {}),
        ("_q4", "int4", "cpu", {"int4_block_size": 32, "int4_accuracy_level": 0}),
        ("_q4f16", "int4", "webgpu", {"int4_block_size": 32, "int4_accuracy_level": 0}),
    ):
        with tempfile.TemporaryDirectory() as target, tempfile.TemporaryDirectory() as cache:
            builder.create_model("tiny", source, target, precision, provider, cache, **options)
            graph = onnx.load(pathlib.Path(target) / "model.onnx")
            graph.doc_string = ""
            for node in graph.graph.node:
                node.doc_string = ""
        file = folder / "onnx" / f"model{suffix}.onnx"
        if suffix == "_q4":
            save_in_parts(graph, file)
        else:
            onnx.save(graph, file)
    for name in ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        shutil.copy(pathlib.Path(source) / name, folder / name)


def save_in_parts(graph, file):
    """Weights in two files beside the model, as repositories have them whose weights are larger than 2 GB."""
    blobs = [bytearray(), bytearray()]
    large = [one for one in graph.graph.initializer if len(one.raw_data) >= 256]
    for index, tensor in enumerate(large):
        part = index % 2
        entries = {"location": f"{file.name}_data{'' if part == 0 else '_1'}", "offset": len(blobs[part]), "length": len(tensor.raw_data)}
        blobs[part] += tensor.raw_data
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        for key, value in entries.items():
            tensor.external_data.add(key=key, value=str(value))
    onnx.save(graph, file)
    for part, blob in enumerate(blobs):
        (file.parent / f"{file.name}_data{'' if part == 0 else '_1'}").write_bytes(blob)


def check(folder, model, tokenizer, is_pair):
    """ONNX Runtime in Python gives the tokens of transformers, before anything is compared in a browser."""
    inputs = tokenizer(PROMPTS[0], return_tensors="pt")
    inputs.pop("token_type_ids", None)
    theirs = model.generate(**inputs, do_sample=False)[0].tolist()
    open_part = lambda part: onnxruntime.InferenceSession(folder / "onnx" / f"{part}.onnx")
    ids = inputs["input_ids"][0].tolist()
    if is_pair:
        ours = greedy_pair(open_part("encoder_model"), open_part("decoder_model_merged"), ids, model.generation_config, len(theirs))
    else:
        ours = greedy(open_part("model"), ids, len(theirs))
    assert ours == theirs, (ours, theirs)


def greedy_pair(encoder, decoder, ids, config, length):
    """Encoder once, then the merged decoder: without a cache for the first token, with it for the others. The encoder's keys and values are those of the first run."""
    mask = np.ones([1, len(ids)], np.int64)
    hidden = encoder.run(None, {"input_ids": np.array([ids], np.int64), "attention_mask": mask})[0]
    past = {one.name: np.zeros([1, one.shape[1], 0, one.shape[3]], np.float32) for one in decoder.get_inputs() if one.name.startswith("past")}
    names = {one.name for one in decoder.get_inputs()}
    tokens = [config.decoder_start_token_id]
    while len(tokens) < length:
        is_first = len(tokens) == 1
        feeds = {"input_ids": np.array([tokens[-1:]], np.int64), "encoder_attention_mask": mask, "encoder_hidden_states": hidden, "use_cache_branch": np.array([not is_first]), **past}
        outputs = dict(zip([one.name for one in decoder.get_outputs()], decoder.run(None, {key: value for key, value in feeds.items() if key in names})))
        past = {name: value if ".encoder." in name and not is_first else outputs[name.replace("past_key_values", "present")] for name, value in past.items()}
        logits = outputs["logits"][0, -1]
        if is_first and config.forced_bos_token_id is not None:
            tokens.append(config.forced_bos_token_id)
        elif len(tokens) == length - 1 and config.forced_eos_token_id is not None:
            tokens.append(config.forced_eos_token_id)
        else:
            tokens.append(int(logits.argmax()))
    return tokens


def greedy(session, tokens, length):
    """The whole loop, with a cache that starts with length 0. (ORTModelForCausalLM takes the size of a head from the config's hidden size.)"""
    names = {one.name: one for one in session.get_inputs()}
    past = {name: np.zeros([1, one.shape[1], 0, one.shape[3]], np.float32) for name, one in names.items() if name.startswith("past")}
    run = tokens
    while len(tokens) < length:
        feeds = {"input_ids": np.array([run], np.int64), "attention_mask": np.ones([1, len(tokens)], np.int64), **past}
        if "position_ids" in names:
            feeds["position_ids"] = np.arange(len(tokens) - len(run), len(tokens))[None]
        outputs = dict(zip([one.name for one in session.get_outputs()], session.run(None, feeds)))
        past = {name: outputs[name.replace("past_key_values", "present")] for name in past}
        run = [int(outputs["logits"][0, -1].argmax())]
        tokens = tokens + run
    return tokens


CONVERSATIONS = [
    [{"role": "user", "content": "Tell me a story about the sea."}],
    [{"role": "user", "content": "What is the time?"}, {"role": "assistant", "content": "Ten."}, {"role": "user", "content": "Tell me about London."}],
    [{"role": "system", "content": "Answer in one word."}, {"role": "user", "content": "What is a cat?"}],
]


def chats(tokenizer):
    rows = []
    for messages in CONVERSATIONS:
        try:
            text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            rows.append({"messages": messages, "text": text, "input_ids": tokenizer(text, add_special_tokens=False)["input_ids"]})
        except Exception as error:  # the template's own raise_exception
            rows.append({"messages": messages, "error": str(error)})
    return rows


def expected(model, tokenizer, is_pair):
    rows = []
    for prompt in PROMPTS:
        inputs = tokenizer(prompt, return_tensors="pt")
        inputs.pop("token_type_ids", None)
        with torch.no_grad():
            greedy = model.generate(**inputs, do_sample=False, output_logits=True, return_dict_in_generate=True)
        start = 1 if is_pair else inputs["input_ids"].shape[1]
        tokens = greedy.sequences[0, start:].tolist()
        first = greedy.logits[0][0]
        row = {
            "prompt": prompt,
            "input_ids": inputs["input_ids"][0].tolist(),
            "tokens": tokens,
            "text": tokenizer.decode(tokens, skip_special_tokens=True),
            "first_logits": [round(value, 6) for value in first[:16].tolist()],
            "last_logits": [round(value, 6) for value in greedy.logits[-1][0][:16].tolist()],
        }
        if is_pair:
            row["beams"] = [search(model, inputs, config) for config in SEARCHES]
        rows.append(row)
    return rows


SEARCHES = [
    {"num_beams": 2},
    {"num_beams": 4},
    {"num_beams": 4, "length_penalty": 2.0, "early_stopping": True},
    {"num_beams": 3, "length_penalty": -1.0},
    {"num_beams": 3, "length_penalty": 0.5, "early_stopping": "never"},
    {"num_beams": 3, "no_repeat_ngram_size": 2, "repetition_penalty": 1.3, "min_new_tokens": 6, "max_new_tokens": 12},
    {"num_beams": 2, "eos_token_id": [1, 73, 139]},
    {"num_beams": 3, "min_length": 8, "max_length": 10},
]


def search(model, inputs, config):
    """Beam search, with settings in transformers' words."""
    # max_length counts only where max_new_tokens is not set.
    own = {"max_new_tokens": None} if "max_length" in config else {}
    with torch.no_grad():
        found = model.generate(**inputs, do_sample=False, output_scores=True, return_dict_in_generate=True, **config, **own)
    return {"config": config, "tokens": found.sequences[0, 1:].tolist(), "score": round(found.sequences_scores[0].item(), 6)}


def translations(model, tokenizer):
    """The codes of languages, as transformers' pipeline sets them."""
    rows = []
    for source, target in (("deu_Latn", "fra_Latn"), ("eng_Latn", "deu_Latn"), ("fra_Latn", "eng_Latn")):
        tokenizer.src_lang = source
        inputs = tokenizer(PROMPTS[0], return_tensors="pt")
        with torch.no_grad():
            tokens = model.generate(**inputs, do_sample=False, forced_bos_token_id=tokenizer.convert_tokens_to_ids(target))[0, 1:].tolist()
        rows.append({"srcLang": source, "tgtLang": target, "prompt": PROMPTS[0], "input_ids": inputs["input_ids"][0].tolist(), "tokens": tokens, "text": tokenizer.decode(tokens, skip_special_tokens=True)})
    tokenizer.src_lang = "eng_Latn"
    return rows


def main():
    wanted = sys.argv[1:]
    file = HERE / "expected.json"
    results = json.loads(file.read_text()) if file.exists() else {}
    for table, is_pair in ((CAUSAL, False), (SEQ2SEQ, True)):
        for name, entry in table.items():
            if wanted and name not in wanted:
                continue
            model, tokenizer = make(name, *entry, is_pair)
            results[name] = {
                "prompts": expected(model, tokenizer, is_pair),
                **({} if is_pair else {"chats": chats(tokenizer)}),
                **({"translations": translations(model, tokenizer)} if name == "nllb" else {}),
            }
            size = sum(path.stat().st_size for path in (HERE / name).rglob("*.onnx"))
            print(f"{name}: {size / 1000:.0f} kB,", results[name]["prompts"][0]["tokens"])
    file.write_text(json.dumps({key: results[key] for key in [*CAUSAL, *SEQ2SEQ] if key in results}, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
