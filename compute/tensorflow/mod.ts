/** Loads the native TensorFlow backend. */
export function loadTensorFlowBackend(): Promise<{ description: string }> {
  return Promise.reject(new Error("no TensorFlow library was found"));
}
