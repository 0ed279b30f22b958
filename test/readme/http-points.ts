declare const photo: Blob;

const body = new FormData();
body.append('image', photo);
body.append('points', new Blob(['[[120, 80]]'], { type: 'application/json' }));
const response = await fetch('/predictions/sam', { method: 'POST', body });
for (const { score, box } of await response.json()) console.log(score, box);
