"""What the tasks of transformers share: texts, tokenizers, random weights, the export."""
import gzip
import json
import pathlib
import re
import shutil
import tempfile

import onnx
import onnxruntime
import torch
import transformers
from torch.onnx import TrainingMode
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from basics import HERE, answers, photo
from seeded import draw, store, stored_bytes

IS_NEWEST = transformers.__version__ >= "5"
MAX_BYTES = 400_000

TEXTS = """The cat sat on the mat and the dog lay by the door. Tell me a story about the sea, please.
A model that runs on the device of its visitor answers without a server. What is the time in London?
Once upon a time there was a small island in the northern sea, and on it stood a lighthouse with a green door.
Marie Curie was born in Warsaw and worked in Paris. Angela Merkel spoke in Berlin about the European Union.
Der Hund lief über die Brücke; die Straße war naß. Le garçon a mangé une pomme à l'école. ¿Dónde está la estación?
В лесу родилась ёлочка, в лесу она росла. 東京は日本の首都です。你好，世界。naïve café
one two three four five six seven eight nine ten 1 2 3 4 5 6 7 8 9 10 100 2026""".split("\n")


def word_piece():
    """BERT's tokenizer."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer.train_from_iterator(TEXTS, trainers.WordPieceTrainer(vocab_size=360, special_tokens=specials, show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]", model_max_length=128)


def byte_level():
    """RoBERTa's tokenizer: pieces of bytes."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    specials = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=420, special_tokens=specials, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.post_processor = processors.RobertaProcessing(sep=("</s>", 2), cls=("<s>", 0), add_prefix_space=False)
    return roberta(tokenizer)


def unigram():
    """XLM-RoBERTa's tokenizer: SentencePiece's Unigram."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace("  ", " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    specials = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer.train_from_iterator(TEXTS, trainers.UnigramTrainer(vocab_size=340, special_tokens=specials, unk_token="<unk>", show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return roberta(tokenizer)


def roberta(tokenizer):
    # As in the published files, the mask takes the space before it.
    mask = transformers.AddedToken("<mask>", lstrip=True)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", pad_token="<pad>", eos_token="</s>", cls_token="<s>", sep_token="</s>", unk_token="<unk>", mask_token=mask, model_max_length=128)


def clip():
    """CLIP's tokenizer: lower case, and a mark at the end of words."""
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix="</w>", continuing_subword_prefix="", fuse_unk=False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    words = Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(words, behavior="removed", invert=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(vocab_size=700, end_of_word_suffix="</w>", initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.add_special_tokens(["<|startoftext|>", "<|endoftext|>"])
    start, end = (tokenizer.token_to_id(token) for token in ("<|startoftext|>", "<|endoftext|>"))
    tokenizer.post_processor = processors.RobertaProcessing(sep=("<|endoftext|>", end), cls=("<|startoftext|>", start), trim_offsets=False, add_prefix_space=False)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<|startoftext|>", eos_token="<|endoftext|>", unk_token="<|endoftext|>", pad_token="<|endoftext|>", model_max_length=77)


TOKENIZERS = {"word_piece": word_piece, "byte_level": byte_level, "unigram": unigram, "clip": clip}


def tokenizer_of(kind, has_types=False):
    """The tokenizer of a kind: one for all tasks, kept in `tokenizers/`. @param has_types whether the model has token_type_ids"""
    folder = HERE / "tokenizers" / kind
    if not folder.exists():
        TOKENIZERS[kind]().save_pretrained(folder)
    names = ["input_ids", *(["token_type_ids"] if has_types else []), "attention_mask"]
    return transformers.PreTrainedTokenizerFast.from_pretrained(folder, model_input_names=names)


def named_by_class(repository, **config):
    """The tokenizer of a repository whose tokenizer_config.json is as before transformers 4: its class knows the special tokens."""
    (HERE / repository / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")
    return transformers.AutoTokenizer.from_pretrained(HERE / repository)


def kebab(name):
    """A class's name as a part of a repository's."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def spread(model, seed=0, scale=0.3):
    """Random weights with which answers differ: those of the usual size give nearly the same for all inputs. @param scale their deviation"""
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if value.ndim > 1:
                value.copy_(torch.from_numpy(draw(name, value.shape, seed, round(scale * 3**0.5, 4))))
            else:
                value.add_(torch.randn_like(value) * 0.05)
    if hasattr(model, "tie_weights"):
        model.tie_weights()
    return model.float().eval()


def small(config_class, kind, **fields):
    """A config of two small layers for a tokenizer."""
    tokenizer = tokenizer_of(kind)
    ids = {f"{name}_token_id": value for name in ("pad", "bos", "eos", "cls", "sep") if (value := getattr(tokenizer, f"{name}_token_id")) is not None}
    usual = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 160}
    return config_class(**{**usual, "vocab_size": len(tokenizer), **ids, **fields})


def export(repository, model, task, processors):
    """Writes a repository as Optimum exports it. @param processors what is saved beside the model: a tokenizer, an image processor"""
    # It does not work with transformers 5: `newest.py`.
    from optimum.exporters.onnx import main_export

    save(repository, model, processors, lambda source, target: main_export(source, target, task=task, do_validation=False, device="cpu"))


def trace(model, inputs, outputs, dynamic, file, opset=17):
    """Writes a graph of a model that Optimum does not know. @param inputs tensors by name @param dynamic names of axes, by tensor"""
    wrapped = Named(model, list(inputs), outputs).eval()
    with torch.no_grad():
        torch.onnx.export(wrapped, tuple(inputs.values()), file, input_names=list(inputs), output_names=outputs, dynamic_axes=dynamic, opset_version=opset, dynamo=False)


class Named(torch.nn.Module):
    """A model whose inputs and outputs are in a fixed order."""

    def __init__(self, model, inputs, outputs):
        super().__init__()
        self.model, self.inputs, self.outputs = model, inputs, outputs

    def forward(self, *values):
        found = self.model(**dict(zip(self.inputs, values)), return_dict=True)
        return tuple(found[name] for name in self.outputs)


class Outputs(torch.nn.Module):
    """A model that returns only the outputs of these names."""

    def __init__(self, model, names):
        super().__init__()
        self.model = model
        self.names = names

    def forward(self, *inputs):
        found = self.model(*inputs, return_dict=True)
        return tuple(found[name] for name in self.names)


def export_graph(repository, model, processors, example, outputs, fixed=False, inputs=("pixel_values",), folds=False, is_fused=True):
    """Writes a repository of a model that Optimum does not know, by torch's exporter. Sides and rows are of any size, unless `fixed`. @param folds whether what is the same for all inputs is computed @param is_fused whether convolutions get their normalizations' weights, which no seed has"""
    names = {0: "batch_size", 1: "num_channels", 2: "height", 3: "width"}
    axes = {} if fixed else {inputs[0]: names, **{name: {0: "batch_size"} for name in outputs}}
    save(repository, model, processors, lambda _, target: torch.onnx.export(
        Outputs(model, outputs).eval(), (example,) if isinstance(example, torch.Tensor) else tuple(example), pathlib.Path(target) / "model.onnx", input_names=list(inputs), output_names=outputs,
        dynamic_axes=axes, opset_version=18, dynamo=False, training=TrainingMode.EVAL if is_fused else TrainingMode.PRESERVE), fix=fold if folds else cast_grids)


def cast_grids(graph):
    """Makes the grids of GridSample float: torch's exporter lets Mask2Former's become double, which ONNX Runtime lacks."""
    nodes = []
    for node in graph.graph.node:
        if node.op_type == "GridSample":
            nodes.append(onnx.helper.make_node("Cast", [node.input[1]], [f"{node.input[1]}_float"], to=onnx.TensorProto.FLOAT))
            node.input[1] = nodes[-1].output[0]
        nodes.append(node)
    del graph.graph.node[:]
    graph.graph.node.extend(nodes)


def fold(graph):
    """Computes what is the same for all inputs, by ONNX Runtime: it makes a graph smaller."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    with tempfile.TemporaryDirectory() as folder:
        options.optimized_model_filepath = f"{folder}/folded.onnx"
        onnxruntime.InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])
        folded = onnx.load(options.optimized_model_filepath)
    operators = [one for one in folded.opset_import if one.domain == ""]
    del folded.opset_import[:]
    folded.opset_import.extend(operators)
    graph.CopyFrom(folded)


def save(repository, model, processors, to_onnx, fix=lambda graph: None):
    """Writes a repository. @param to_onnx writes the graphs of a saved model into a folder @param fix changes a graph"""
    folder = HERE / repository
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as source, tempfile.TemporaryDirectory() as target:
        model.save_pretrained(source)
        for one in processors:
            one.save_pretrained(source)
        to_onnx(source, target)
        (folder / "onnx").mkdir(parents=True)
        for file in sorted(pathlib.Path(target).iterdir()):
            if file.suffix != ".onnx":
                continue
            graph = onnx.load(file)
            fix(graph)
            strip(graph)
            store(graph, folder / "onnx" / file.name)
        for file in sorted(pathlib.Path(source).glob("*.json")):
            # Tokens are in tokenizer.json, if there is one.
            is_double = file.name in ("vocab.json", "added_tokens.json") and (pathlib.Path(source) / "tokenizer.json").exists()
            if not is_double and file.name != "special_tokens_map.json":
                shutil.copy(file, folder / file.name)
            # Git ignores it beside its `.gz`.
            if file.name == "tokenizer.json":
                (folder / "tokenizer.json.gz").write_bytes(gzip.compress(file.read_bytes(), 9, mtime=0))
    size = stored_bytes(folder)
    print(repository, size)
    if size > MAX_BYTES:
        raise SystemExit(f"{repository} has {size} bytes, more than {MAX_BYTES}.")


def strip(graph):
    """Removes what only a reader of the graph needs."""
    graph.doc_string = ""
    for node in graph.graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
    del graph.graph.value_info[:]
    shorten(graph.graph, {value.name: value.name for value in [*graph.graph.input, *graph.graph.output]})


def shorten(graph, names):
    """Gives values short names: those of the exporter, paths of modules, are most of a small file. @param names those that stay"""
    def short(name):
        return names.setdefault(name, f"v{len(names)}") if name else name

    for value in [*graph.initializer, *graph.input, *graph.output]:
        value.name = short(value.name)
    for node in graph.node:
        node.name = ""
        node.input[:] = map(short, node.input)
        node.output[:] = map(short, node.output)
        for attribute in node.attribute:
            for inner in [*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs]:
                shorten(inner, names)


def units(text, at):
    """The UTF-16 units before a character of a text."""
    return len(text[:at].encode("utf-16-le")) // 2
