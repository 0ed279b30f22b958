// A worker whose author forgot to call expose().
export {};
