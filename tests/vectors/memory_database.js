/** As much of IndexedDB as the client's ledger uses, in memory: for Node, where there is none. */
const databases = new Map();

class Transaction {
  #pending = 0;
  #aborted = false;

  constructor(stores) {
    this.stores = stores;
    this.kept = new Map(Array.from(stores, ([name, { rows }]) => [name, new Map(rows)]));
    this.#settle();
  }

  objectStore(name) {
    const { key, rows } = this.stores.get(name);
    const put = (value) => void rows.set(value[key], structuredClone(value));
    const add = (value) => (rows.has(value[key]) ? this.abort() : put(value));
    const steps = { getAll: () => [...rows.values()], get: (id) => rows.get(id), put, add, delete: (id) => rows.delete(id) };
    return Object.fromEntries(Object.entries(steps).map(([step, run]) => [step, (value) => this.#ask(() => run(value))]));
  }

  abort() {
    this.#aborted = true;
    for (const [name, rows] of this.kept) this.stores.get(name).rows = rows;
  }

  #ask(run) {
    const request = {};
    this.#pending += 1;
    setTimeout(() => {
      if (!this.#aborted) {
        request.result = run();
        request.onsuccess?.({ target: request });
      }
      this.#pending -= 1;
      this.#settle();
    });
    return request;
  }

  #settle() {
    setTimeout(() => {
      if (this.#pending === 0) (this.#aborted ? this.onabort : this.oncomplete)?.();
    });
  }
}

globalThis.indexedDB = {
  open(name) {
    const request = {};
    setTimeout(() => {
      const isNew = !databases.has(name);
      const stores = databases.get(name) ?? new Map();
      databases.set(name, stores);
      request.result = {
        createObjectStore: (store, { keyPath }) => stores.set(store, { key: keyPath, rows: new Map() }),
        transaction: () => new Transaction(stores),
        close: () => {},
      };
      if (isNew) request.onupgradeneeded({ oldVersion: 0 });
      request.onsuccess();
    });
    return request;
  },
};
