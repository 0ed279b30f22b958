/** `tabserve/vue` where nothing is mounted; `test/browser/frameworks.spec.ts` has what is. */
import { expect, test } from '@playwright/test';
import { createSSRApp, defineComponent, h } from 'vue';
import { renderToString } from 'vue/server-renderer';
import { useModel, type UseModelOptions } from '../../../../src/vue.ts';

const shown = async (options: UseModelOptions): Promise<string> => {
  const component = defineComponent(() => {
    const { state } = useModel({ model: '/models/digits/', ...options });
    return () => h('p', state.value.status);
  });
  return await renderToString(createSSRApp(component));
};

test('on a server a component renders without a worker, as it does before it is mounted', async () => {
  const { Worker } = globalThis;
  let workers = 0;
  globalThis.Worker = function () {
    workers += 1;
  } as never;
  try {
    expect(await shown({})).toBe('<p>loading</p>');
    expect(await shown({ loading: 'lazy' })).toBe('<p>idle</p>');
    expect(workers).toBe(0);
  } finally {
    globalThis.Worker = Worker;
  }
});

test('what is no option is refused where the component is made', async () => {
  const wrong = shown({ loading: 'suspense' as never });
  await expect(wrong).rejects.toMatchObject({ code: 'model-config', message: expect.stringContaining('loading') });
});
