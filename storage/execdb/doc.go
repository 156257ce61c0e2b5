// Package execdb keeps executions in two SQLite databases of one folder: it is
// the durable storage.ExecutionStore.
//
// control.db (synchronous FULL) holds executions, results, snapshots and
// leases: what a call reported as stored survives a power cut. log.db (NORMAL)
// holds log entries, written in batches; no state or counter is derived from
// it. Several processes write at once: each transaction is short and begins
// IMMEDIATE.
//
// A process that writes has a lock file and a row. The operating system frees
// the lock when the process dies and keeps it while the machine sleeps, so a
// free lock is the proof of death: whoever finds it removes the row, raises the
// epoch of the leases of the dead, and ends its executions as INTERRUPTED, with
// the last heartbeat as their end. Every transaction of an owner asserts its row,
// and the epoch of the lease that an execution runs under.
package execdb
