// How conversations reach a template. Expected values of continued messages: `test/goldens/chat-templates/make.py`.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { readChat } from '../../../../src/shared/chat.ts';
import { loadChatTemplate } from '../../../../src/worker/generation/chat.ts';
import { createFiles } from '../../../../src/worker/models/files.ts';

const read = (file: string): string =>
  readFileSync(new URL(`../../../goldens/chat-templates/${file}`, import.meta.url), 'utf8');
const config = { bos_token: '<s>', eos_token: '</s>', pad_token: '<pad>', unk_token: '<unk>' };

/** Renders messages by a template, as the handler does. */
async function rendered(template: string, messages: unknown, files: Readonly<Record<string, string>> = {}) {
  const all = { 'chat_template.jinja': template, 'tokenizer_config.json': JSON.stringify(config), ...files };
  const blobs = Object.fromEntries(Object.entries(all).map(([path, text]) => [path, new Blob([text])]));
  const loaded = await loadChatTemplate(createFiles(blobs));
  return loaded!.render(readChat({ messages, tools: undefined }));
}

const code = (name: string, words: string): unknown =>
  expect.objectContaining({ code: name, message: expect.stringContaining(words) as unknown });

test('a last message of the assistant is continued, as with continue_final_message of transformers', async () => {
  const cases = JSON.parse(read('continued.expected.json')) as readonly {
    readonly template: string;
    readonly messages: readonly { readonly content: unknown }[];
    readonly text?: string;
  }[];
  for (const { template, messages, text } of cases) {
    const source = read(`templates/${template}`);
    const isList = Array.isArray(messages[1]!.content);
    // Python prints a list where a template takes texts.
    if (isList && template !== 'parts.jinja') continue;
    const result = rendered(source, messages);
    if (text === undefined) await expect(result, template).rejects.toEqual(code('invalid-input', ''));
    else expect(await result, `${template} ${JSON.stringify(messages)}`).toBe(text);
  }
});

test('one that calls tools, or has no text, is followed by a new answer', async () => {
  const template = '{% for m in messages %}{{ m.role }}{% endfor %}{{ "!" if add_generation_prompt }}';
  const user = { role: 'user', content: 'Hi' };
  const calls = [{ type: 'function', function: { name: 'f', arguments: '{}' } }];
  for (const last of [{ content: '' }, { content: null, tool_calls: calls }, { content: 'x', tool_calls: calls }])
    expect(await rendered(template, [user, { role: 'assistant', ...last }])).toBe('userassistant!');
});

test('parts are joined unless the template takes parts', async () => {
  const content = [
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ];
  const messages = [{ role: 'user', content }];
  expect(await rendered('{{ messages[0].content }}', messages)).toBe('ab');
  const parts = '{% for p in messages[0].content %}({{ p.text }}){% endfor %}';
  expect(await rendered(parts, messages)).toBe('(a)(b)');
});

test('arguments of calls are mappings, or the text that was given where a template adds it to its own', async () => {
  const call = { type: 'function', function: { name: 'f', arguments: '{"city":"Köln"}' } };
  const messages = [
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', content: '1' },
  ];
  const first = 'messages[0].tool_calls[0].function.arguments';
  expect(await rendered(`{{ ${first} | tojson }}`, messages)).toBe('{"city": "Köln"}');
  expect(await rendered(`{{ 'call ' + ${first} }}`, messages)).toBe('call {"city":"Köln"}');
  const wrong = [{ ...messages[0], tool_calls: [{ function: { name: 'f', arguments: '{' } }] }, messages[1]];
  await expect(rendered('', wrong)).rejects.toEqual(
    code('invalid-input', 'messages[0].tool_calls[0].function.arguments'),
  );
});

test('the keys of a message stay in their order, which a template may print', async () => {
  const calls = [{ type: 'function', function: { name: 'f', arguments: '{}' } }];
  const messages = [
    { name: 'Ann', content: 'Hi', role: 'user', end: 1 },
    { tool_calls: calls, role: 'assistant', reasoning: 'r', content: null },
    { role: 'tool', content: [{ type: 'text', text: '1' }], tool_call_id: 'a', tool_calls: null },
  ];
  const template = "{% for m in messages %}{{ m | join(' ') }}, {% endfor %}";
  expect(await rendered(template, messages)).toBe(
    'name content role end, tool_calls role reasoning content, role content tool_call_id, ',
  );
});

test('null and no tool calls are left out', async () => {
  const template = '{% for m in messages %}{{ m.tool_calls is defined }}{% endfor %}';
  const of = (calls: unknown) => ({ role: 'user', content: 'x', tool_calls: calls });
  expect(await rendered(template, [of(null), of([]), of([{}])])).toBe('FalseFalseTrue');
});

test('what a template fails with', async () => {
  const messages = [{ role: 'user', content: 'Hi' }];
  for (const [template, name, words] of [
    ["{{ raise_exception('Only questions.') }}", 'invalid-input', 'refuses these messages: Only questions.'],
    [
      '{{ messages[0].a.b }}',
      'invalid-input',
      "fails on these messages, as in Python: 'dict object' has no attribute 'a'",
    ],
    ['{{ messages | pprint }}', 'model-config', 'the filter "pprint"'],
    ['{% include "x" %}', 'model-config', 'the block "include"'],
    ['{% for %}', 'model-format', 'is no template'],
    [
      '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}',
      'model-config',
      'takes too long',
    ],
  ] as const)
    await expect(rendered(template, messages), template).rejects.toEqual(code(name, words));
});

test('tool_use of additional_chat_templates is taken with tools', async () => {
  const blobs = {
    'chat_template.jinja': new Blob(['plain']),
    'tool_use.jinja': new Blob(['tools']),
  };
  const template = (await loadChatTemplate(createFiles(blobs)))!;
  const messages = [{ role: 'user', content: 'Hi' }];
  const chats = [{ messages }, { messages, tools: [{}] }];
  expect(chats.map((chat) => template.render(chat))).toEqual(['plain', 'tools']);
  expect(chats.map((chat) => template.sourceOf(chat))).toEqual(['plain', 'tools']);
});

test('variables of a request reach the template; those of the conversation are refused', async () => {
  const source = '{{ enable_thinking }} {{ reasoning_effort | default("medium") }} {{ documents }}';
  const { render } = (await loadChatTemplate(createFiles({ 'chat_template.jinja': new Blob([source]) })))!;
  const chat = { messages: [{ role: 'user', content: 'Hi' }] };
  expect(render(chat, { enable_thinking: false })).toBe('False medium None');
  expect(render(chat, { reasoning_effort: 'low', documents: [] })).toBe(' low []');
  for (const name of ['messages', 'tools', 'add_generation_prompt'])
    expect(() => render(chat, { [name]: [] })).toThrow(
      `params.chatTemplateKwargs: ${name} is set by the conversation itself.`,
    );
});
