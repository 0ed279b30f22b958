"""Writes `charsmap.gz`: the character map `nmt_nfkc` of SentencePiece, which XLM-R, T5, DeBERTa v3 and ALBERT have in their
tokenizer.json as `precompiled_charsmap`. A model that SentencePiece trains contains it.

    python test/goldens/offsets/charsmap.py

Needs sentencepiece and protobuf.
"""
import gzip
import io
import pathlib

import sentencepiece
from sentencepiece import sentencepiece_model_pb2

if __name__ == "__main__":
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the cat sat on the mat", "a dog lay by the door"] * 4), model_writer=out, vocab_size=20, normalization_rule_name="nmt_nfkc", minloglevel=2)
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(out.getvalue())
    path = pathlib.Path(__file__).resolve().parent / "charsmap.gz"
    path.write_bytes(gzip.compress(model.normalizer_spec.precompiled_charsmap, 9, mtime=0))
    print(path.stat().st_size)
