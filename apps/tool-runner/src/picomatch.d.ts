/** The part of picomatch that is used here; the package brings no types. */
declare module 'picomatch' {
  interface Options {
    readonly dot?: boolean;
    readonly basename?: boolean;
    readonly strictSlashes?: boolean;
  }
  const picomatch: { makeRe(glob: string, options?: Options): RegExp };
  export default picomatch;
}
