import type { DefaultTheme } from 'vitepress';
import type { SitePage } from './pages.ts';

export const PARTS = ['Start', 'Tasks', 'Handlers', 'Operate', 'Reference'] as const;

/** Returns the sidebar: the README's index, in five parts with their sections. */
export function sidebarOf(pages: readonly SitePage[]): DefaultTheme.SidebarItem[] {
  return PARTS.map((part) => {
    const items: DefaultTheme.SidebarItem[] = [];
    for (const page of pages) {
      const [group, section] = page.group.split(' · ');
      if (group !== part) continue;
      const item = { text: page.title, link: `/${page.path}` };
      if (section === undefined) items.push(item);
      else {
        const open = items.find(({ text, items: inner }) => inner && text === section);
        if (open) open.items!.push(item);
        else items.push({ text: section, items: [item] });
      }
    }
    return { text: part, items };
  });
}
