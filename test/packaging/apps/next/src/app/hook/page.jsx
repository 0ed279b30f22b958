'use client';

import dynamic from 'next/dynamic';
import { Suspense } from 'react';
import Status from './status.jsx';

const InTheBrowser = dynamic(() => import('./status.jsx'), { ssr: false });

export default function Page() {
  return (
    <main>
      <p id="eager">
        <Status />
      </p>
      <p id="suspense">
        <Suspense fallback="fallback">
          <InTheBrowser loading="suspense" />
        </Suspense>
      </p>
    </main>
  );
}
