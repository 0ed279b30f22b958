"""Describes ONNX files with the package onnx: what src/tools/cli/onnx-graph.ts must read from them.

    pip install onnx
    python test/goldens/inspect/make.py
"""

import json
from collections import Counter
from pathlib import Path

import onnx
from onnx import AttributeProto, TensorProto, helper

ROOT = Path(__file__).resolve().parents[3]
FILES = [
    'public/models/digits/digits.onnx',
    'test/models/branch.onnx',  # subgraphs
    'test/models/dtypes.onnx',
    'test/models/float16.onnx',
    'test/models/wide_integers.onnx',
    'test/models/two_inputs.onnx',
    'test/docs/bert_mnli.onnx',
    'test/docs/yolov8n.onnx',
]


def name_of(dtype):
    return helper.tensor_dtype_to_np_dtype(dtype).name if dtype != TensorProto.STRING else 'string'


def describe(path):
    model = onnx.load(ROOT / path)
    operators, weights = Counter(), {}

    def weight(tensor):
        dtype = name_of(tensor.data_type)
        elements = 1
        for dim in tensor.dims:
            elements *= dim
        size = 0 if dtype == 'string' else helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
        count, total = weights.get(dtype, (0, 0))
        weights[dtype] = (count + 1, total + elements * size)

    def graph(one):
        for tensor in one.initializer:
            weight(tensor)
        for node in one.node:
            domain = '' if node.domain in ('', 'ai.onnx') else f'{node.domain}.'
            operators[domain + node.op_type] += 1
            for attribute in node.attribute:
                if attribute.type == AttributeProto.TENSOR:
                    weight(attribute.t)
                if attribute.type == AttributeProto.GRAPH:
                    graph(attribute.g)

    graph(model.graph)
    metadata = {one.key: one.value for one in model.metadata_props}
    return {
        'irVersion': model.ir_version,
        'producer': f'{model.producer_name} {model.producer_version}'.strip(),
        'opsets': {one.domain or 'ai.onnx': one.version for one in model.opset_import},
        'inputs': [one.name for one in model.graph.input if one.name not in {t.name for t in model.graph.initializer}],
        'outputs': [one.name for one in model.graph.output],
        'operators': dict(sorted(operators.items())),
        'weights': {dtype: {'tensors': count, 'bytes': total} for dtype, (count, total) in weights.items()},
        **({'metadata': metadata} if metadata else {}),
    }


(Path(__file__).parent / 'graphs.json').write_text(json.dumps({path: describe(path) for path in FILES}, indent=1) + '\n')
