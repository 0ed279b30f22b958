"""What transformers' `apply_chat_template` makes of templates and conversations, for
`test/unit/worker/generation/jinja/templates.spec.ts`.

    python test/goldens/chat-templates/make.py                       # our own templates: writes expected.json
    python test/goldens/chat-templates/make.py FOLDER OUTPUT.json    # others, for compare.mjs; nothing of them is committed

Needs transformers 4.57 and jinja2.
"""
import datetime
import json
import pathlib
import sys

import transformers.utils.chat_template_utils as utils

HERE = pathlib.Path(__file__).resolve().parent
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


class Fixed(datetime.datetime):
    """The time that `strftime_now` tells: always the same."""

    @classmethod
    def now(cls, tz=None):
        return cls(2024, 7, 6, 15, 4, 5)


utils.datetime = Fixed


def render(template, conversation):
    """Returns the text; or None, with the error's words, where Python fails."""
    own = json.loads(json.dumps(conversation))
    messages, tools, documents = own.pop("messages"), own.pop("tools", None), own.pop("documents", None)
    try:
        rendered, _ = utils.render_jinja_template([messages], tools=tools, documents=documents, chat_template=template, **own, **SPECIAL)
        return {"text": rendered[0]}
    except Exception as error:
        return {"error": type(error).__name__}


def snippets():
    """Returns what Python makes of each short template of snippets.json."""
    given = json.loads((HERE / "snippets.json").read_text("utf-8"))
    return [render(one, {"messages": [], **given["variables"]}) for one in given["snippets"]]


CONTINUED = ["The answer is", "The answer is ", "  The answer", [{"type": "text", "text": "One "}, {"type": "text", "text": "two "}], "<think>a</think>b"]


def continued():
    """Returns what each of our templates makes of conversations whose last message is continued."""
    found = []
    for file in sorted((HERE / "templates").glob("*.jinja")):
        for content in CONTINUED:
            messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": content}]
            own = json.loads(json.dumps(messages))
            template = file.read_bytes().decode("utf-8")
            right = render(template, {"messages": own, "add_generation_prompt": False, "continue_final_message": True})
            found.append({"template": file.name, "messages": messages, **right})
    return found


def write(path, value):
    pathlib.Path(path).write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", "utf-8")


def main(folder, output):
    conversations = json.loads((HERE / "conversations.json").read_text("utf-8"))
    expected = {
        file.name: {name: render(file.read_bytes().decode("utf-8"), one) for name, one in conversations.items()}
        for file in sorted(pathlib.Path(folder).glob("*.jinja"))
    }
    write(output, expected)


if __name__ == "__main__":
    if not sys.argv[1:]:
        write(HERE / "snippets.expected.json", snippets())
        write(HERE / "continued.expected.json", continued())
    main(*(sys.argv[1:] or [HERE / "templates", HERE / "expected.json"]))
