/** A file as text, which Vite builds into the script. */
declare module '*?raw' {
  const text: string;
  export default text;
}
