"""OpenAI's own client for Python, and LangChain's, against `tabserve serve`: `npm run interop` runs it. Argument: its address."""
import io
import json
import sys
import wave
from typing import Literal

from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from openai import BadRequestError, InternalServerError, NotFoundError, OpenAI
from pydantic import BaseModel, Field

URL = f"{sys.argv[1]}/v1"
MESSAGES = [{"role": "user", "content": "Once upon a time"}]
client = OpenAI(base_url=URL, api_key="none", max_retries=0)


class Review(BaseModel):
    mood: Literal["glad", "sad"]
    stars: int = Field(ge=1, le=5)


@tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def refused(ask, kind, part):
    try:
        ask()
    except kind as error:
        assert part in str(error), error
        return
    raise AssertionError(f"{part}: it was not refused.")


def openai():
    asked = {"model": "writer", "messages": MESSAGES, "max_tokens": 12, "temperature": 0}
    whole = client.chat.completions.create(**asked)
    text = whole.choices[0].message.content
    assert text and whole.usage.completion_tokens == 12, whole
    parts = [one.choices[0].delta.content or "" for one in client.chat.completions.create(**asked, stream=True)]
    assert "".join(parts) == text and len(parts) > 3, parts
    answered = client.responses.create(model="writer", input="Once upon a time", max_output_tokens=12, temperature=0)
    assert answered.output_text == text, answered.output_text
    with client.responses.stream(model="writer", input="Once upon a time", max_output_tokens=12, temperature=0) as events:
        assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == text
    review = client.chat.completions.parse(model="writer", messages=MESSAGES, max_tokens=300, response_format=Review)
    assert isinstance(review.choices[0].message.parsed, Review), review
    parsed = client.responses.parse(model="writer", input="A review", max_output_tokens=300, text_format=Review)
    assert isinstance(parsed.output_parsed, Review), parsed
    first, second = (one.embedding for one in client.embeddings.create(model="vectors", input=["a cat", "a dog"]).data)
    assert len(first) == len(second) == 16 and first != second
    short = client.embeddings.create(model="vectors", input="a cat", dimensions=4).data[0].embedding
    assert abs(sum(number * number for number in short) - 1) < 1e-5, short
    assert {one.id for one in client.models.list()} == {"talk", "vectors", "voice", "words", "writer"}
    refused(lambda: client.models.retrieve("none"), NotFoundError, "Model not found: none")
    refused(lambda: client.embeddings.create(model="vectors", input="a", dimensions=17), BadRequestError, "dimensions")
    refused(lambda: client.moderations.create(input="a"), NotFoundError, "/v1/chat/completions")


def recording():
    sound = io.BytesIO()
    with wave.open(sound, "wb") as file:
        file.setnchannels(1), file.setsampwidth(2), file.setframerate(16_000)
        file.writeframes(b"".join(((at * (at // 64 + 40)) % 2000 * 16 - 16_000).to_bytes(2, "little", signed=True) for at in range(48_000)))
    return "talk.wav", sound.getvalue()


def transcriptions():
    ask = lambda **more: client.audio.transcriptions.create(model="words", file=recording(), language="en", temperature=0, **more)
    whole = ask()
    assert whole.text and ask(response_format="text").strip() == whole.text.strip(), whole
    verbose = ask(response_format="verbose_json", timestamp_granularities=["word", "segment"])
    assert verbose.text and verbose.duration == 3 and verbose.language == "english", verbose
    assert verbose.words and verbose.segments and all(one.start <= one.end for one in verbose.words), verbose
    assert ask(response_format="srt").startswith("1\n00:00:0") and ask(response_format="vtt").startswith("WEBVTT\n")
    *parts, done = ask(stream=True)
    assert done.type == "transcript.text.done" and done.text == whole.text, done
    assert "".join(one.delta for one in parts if one.type == "transcript.text.delta") == whole.text, parts
    refused(lambda: ask(response_format="mp3"), BadRequestError, "response_format")
    refused(lambda: client.audio.transcriptions.create(model="words", file=("a.mp3", b"ID3")), InternalServerError, "ffmpeg -i FILE sound.wav")


def speech():
    ask = lambda **more: client.audio.speech.create(model="voice", voice="alloy", input="a b", **more)
    with wave.open(io.BytesIO(ask(response_format="wav").content)) as file:
        assert file.getnchannels() == 1 and file.getnframes() > 0
    with client.audio.speech.with_streaming_response.create(model="voice", voice="alloy", input="a b", response_format="pcm") as answer:
        assert sum(len(part) for part in answer.iter_bytes()) > 0
    refused(lambda: ask(response_format="mp3"), BadRequestError, "response_format")


def conversations():
    ask = lambda **more: client.audio.transcriptions.create(model="talk", file=recording(), response_format="diarized_json", language="en", **more)
    whole = ask()
    assert (whole.task, whole.duration) == ("transcribe", 3) and whole.text, whole
    assert {one.type for one in whole.segments} == {"transcript.text.segment"} and whole.segments[0].speaker == "A", whole
    assert all(one.start <= one.end and one.text in whole.text for one in whole.segments), whole
    *segments, done = ask(stream=True)
    assert [one.to_dict() for one in segments] == [one.to_dict() for one in whole.segments] and done.text == whole.text, segments
    refused(lambda: ask(known_speaker_names=["Ada"]), BadRequestError, "known_speaker_names[]")


def langchain():
    model = lambda **given: ChatOpenAI(model="writer", base_url=URL, api_key="none", temperature=0, **given)
    whole = model(max_tokens=12).invoke("Once upon a time")
    assert whole.content and whole.usage_metadata["output_tokens"] == 12, whole
    assert "".join(part.content for part in model(max_tokens=12).stream("Once upon a time")) == whole.content
    assert isinstance(model(max_tokens=300).with_structured_output(Review).invoke("A review"), Review)
    called = model(max_tokens=300).bind_tools([add], tool_choice="add").invoke("How many?")
    results = [add.invoke(call) for call in called.tool_calls]
    assert results and all(json.loads(one.content) == sum(call["args"].values()) for one, call in zip(results, called.tool_calls))
    assert model(max_tokens=12).invoke([HumanMessage("How many?"), called, *results]).content
    vectors = OpenAIEmbeddings(model="vectors", base_url=URL, api_key="none", check_embedding_ctx_length=False)
    assert [len(one) for one in vectors.embed_documents(["a cat", "a dog"])] == [16, 16]


for ask in (openai, transcriptions, speech, conversations, langchain):
    ask()
    print(f"{ask.__name__}: as its users expect")
