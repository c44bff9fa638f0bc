export * from "./types";
export * from "./rank";
export * from "./slug";
