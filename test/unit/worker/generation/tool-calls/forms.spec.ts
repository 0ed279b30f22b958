// How models write calls. The texts are of the forms that the models' own documentation and vLLM's parsers of tool calls
// describe; what they stand for is what those parsers return.
import { expect, test } from '@playwright/test';
import { FORMS, formOf } from '../../../../../src/worker/generation/tool-calls/forms.ts';
import type { ToolCallFormat } from '../../../../../src/worker/generation/tool-calls/tool-choice.ts';

const weather = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    zip: { type: 'string' },
    days: { type: 'integer' },
    hourly: { type: 'boolean' },
    places: { type: 'array' },
  },
};
const TOOLS = new Map<string, unknown>([
  ['get_weather', weather],
  ['get_time', { type: 'object', properties: {} }],
]);

const paris = { name: 'get_weather', arguments: { city: 'Paris' } };
const time = { name: 'get_time', arguments: {} };
const detailed = {
  name: 'get_weather',
  arguments: { city: 'Paris', zip: '75001', days: 3, hourly: true, places: [1] },
};
/** Texts between the marks of a form, and their calls; undefined for what is none, or cut off. */
const CASES: Readonly<Record<ToolCallFormat, readonly (readonly [text: string, calls: unknown])[]>> = {
  hermes: [
    ['\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n', [paris]],
    ['{"name": "get_time", "arguments": {}}', [time]],
    ['{"name": "get_time"}', [time]],
    ['{"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}', [paris]],
    ['{"name": "get_weather", "arguments": {"city": "Par', undefined],
    ['{"name": "get_weather", "arguments": ["Paris"]}', undefined],
    ['{"arguments": {}}', undefined],
    ['[]', undefined],
    ['null', undefined],
  ],
  'qwen3-coder': [
    ['\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n', [paris]],
    [
      '<function=get_weather><parameter=city>Paris</parameter><parameter=zip>75001</parameter><parameter=days>3</parameter><parameter=hourly>true</parameter><parameter=places>[1]</parameter></function>',
      [detailed],
    ],
    [
      '\n<function=get_weather>\n<parameter=city>\nParis\nFrance\n\n</parameter>\n</function>',
      [{ name: 'get_weather', arguments: { city: 'Paris\nFrance\n' } }],
    ],
    ['<function=other><parameter=a>null</parameter></function>', [{ name: 'other', arguments: { a: null } }]],
    ['\n<function=get_time>\n</function>\n', [time]],
    ['\n<function=get_weather>\n<parameter=city>\nPar', undefined],
  ],
  glm: [
    ['get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n', [paris]],
    ['get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value>', [paris]],
    [
      'get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n<arg_key>zip</arg_key>\n<arg_value>75001</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n<arg_key>hourly</arg_key>\n<arg_value>true</arg_value>\n<arg_key>places</arg_key>\n<arg_value>[1]</arg_value>\n',
      [detailed],
    ],
    ['get_time\n', [time]],
    ['get_weather\n<arg_key>city</arg_key>\n<arg_value>Par', undefined],
    ['', undefined],
  ],
  'llama3-json': [
    ['{"name": "get_weather", "parameters": {"city": "Paris"}}', [paris]],
    [' {"name": "get_weather", "arguments": {"city": "Paris"}}\n', [paris]],
    ['{"name": "get_weather", "parameters": {"city": "Paris"}}; {"name": "get_time", "parameters": {}}', [paris, time]],
    [
      '{"name": "get_weather", "parameters": {"city": "a \\"}; {"}}',
      [{ name: 'get_weather', arguments: { city: 'a "}; {' } }],
    ],
    ['{"name": "Bob", "parameters": {}}', undefined],
    ['{"name": "get_time", "parameters": {}} is what I would call', undefined],
    ['{"name": "get_weather", "parameters": {"city": "Par', undefined],
    ['brave_search.call(query="weather")', undefined],
    ['', undefined],
  ],
  pythonic: [
    ["[get_weather(city='Paris')]", [paris]],
    ['[get_weather(city="Paris"), get_time()]', [paris, time]],
    ['[get_weather(city="Paris", zip=\'75001\', days=3, hourly=True, places=[1,])]', [detailed]],
    [
      "[get_weather(a=-1.5, b=None, c={'x': [True, 'it\\'s'], \"y\": {}}, d=(1, 2), e='\\u00e9\\n', f=1e3)]",
      [
        {
          name: 'get_weather',
          arguments: { a: -1.5, b: null, c: { x: [true, "it's"], y: {} }, d: [1, 2], e: 'é\n', f: 1000 },
        },
      ],
    ],
    ['[1, 2, 3]', undefined],
    ['[sorted(x=1)]', undefined],
    ["[get_weather('Paris')]", undefined],
    ["[get_weather(city='Par", undefined],
    ['[get_time()] is what I would call', undefined],
    [`[get_weather(city=${'['.repeat(100_000)})]`, undefined],
  ],
  mistral: [
    ['[{"name": "get_weather", "arguments": {"city": "Paris"}}]', [paris]],
    [
      ' [{"name": "get_weather", "arguments": {"city": "Paris"}, "id": "abcdefghi"}, {"name": "get_time", "arguments": {}}]',
      [paris, time],
    ],
    ['get_weather[ARGS]{"city": "Paris"}', [paris]],
    ['get_weather[CALL_ID]abcdefghi[ARGS]{"city": "Paris"}[TOOL_CALLS]get_time[ARGS]{}', [paris, time]],
    ['get_weather{"city": "Paris"}', [paris]],
    ['[{"name": "get_weather", "arguments": {"city": "Par', undefined],
    ['get_weather[ARGS]{"city": "Par', undefined],
    ['[]', undefined],
  ],
  gemma: [
    ['call:get_weather{city:<escape>Paris<escape>}', [paris]],
    ['call:get_weather{city:<|"|>Paris<|"|>}', [paris]],
    ['call:get_time{}', [time]],
    ['call:get_weather{city:<|"|>Paris<|"|>,zip:<|"|>75001<|"|>,days:3,hourly:true,places:[1]}', [detailed]],
    [
      'call:a-b.c{nested:{inner:<|"|>a, b: {c}<|"|>,<|"|>3<|"|>:null},list:[<|"|>a]<|"|>,[1.5]]}',
      [{ name: 'a-b.c', arguments: { nested: { inner: 'a, b: {c}', 3: null }, list: ['a]', [1.5]] } }],
    ],
    ['call:get_weather{city:Paris}', [paris]],
    ['call:get_weather{city:<|"|>Par', undefined],
    ['call:get_weather{city:<|"|>Paris<|"|>', undefined],
    ['get_weather{}', undefined],
  ],
  deepseek: [
    [
      '<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city": "Paris"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_time\n```json\n{}\n```<｜tool▁call▁end｜>',
      [paris, time],
    ],
    [
      '<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris"}<｜tool▁call▁end｜><｜tool▁call▁begin｜>get_time<｜tool▁sep｜>{}<｜tool▁call▁end｜>',
      [paris, time],
    ],
    ['<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Par', undefined],
    ['', undefined],
  ],
  'gpt-oss': [
    ['functions.get_weather <|constrain|>json<|message|>{"city": "Paris"}', [paris]],
    ['get_weather<|channel|>commentary <|constrain|>json<|message|>{"city": "Paris"}', [paris]],
    ['functions.get_time<|message|>{}', [time]],
    ['functions.get_weather <|constrain|>json<|message|>{"city": "Par', undefined],
  ],
};

for (const [name, cases] of Object.entries(CASES))
  test(`calls of ${name}`, () => {
    for (const [text, calls] of cases) expect(FORMS[name as ToolCallFormat].parse(text, TOOLS), text).toEqual(calls);
  });

test('the form is the one that a chat template writes', () => {
  const templates: Readonly<Record<string, string>> = {
    hermes: '{{- \'\\n<tool_call>\\n{"name": "\' }}',
    'qwen3-coder': "{{- '<tool_call>\\n<function=' + tool_call.name + '>\\n' }}",
    glm: "{{ '<tool_call>' + tc.name }}{% for k, v in args %}<arg_key>{{ k }}</arg_key>",
    'llama3-json':
      '{{- \'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.\' }}',
    pythonic: 'you MUST put it in the format of [func_name1(params_name1=params_value1)]',
    mistral: '{{- "[TOOL_CALLS] [" }}',
    gemma: "{{- '<start_function_call>call:' + name + '{' }}",
    deepseek: "{{'<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>'}}",
    'gpt-oss': '{{- "<|start|>assistant to=functions." + name + "<|channel|>commentary json<|message|>" }}',
  };
  for (const [name, template] of Object.entries(templates))
    expect(formOf(template), name).toBe(FORMS[name as ToolCallFormat]);
  expect(formOf("{{- '<|tool_call>call:' + name }}")).toBe(FORMS.gemma);
  expect(formOf("{{- '<|tool_call_start|>[' }}")).toBe(FORMS.pythonic);
  expect(formOf('{{ messages[0].content }}{{ tools | tojson }}')).toBe(undefined);
});
