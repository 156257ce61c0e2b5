// Package pipeline runs one pipeline.
//
// A Graph is a pipeline as it will run: nodes with decoded settings and the
// enabled hops. Prepare turns a graph into an Execution: it resolves copies and
// ports, computes every schema, starts the transforms and plans the stages. An
// Execution runs once; it can be observed, paused and stopped meanwhile.
//
// # Stages
//
// Row-wise neighbours are fused into one stage: a head (a source, a stream or a
// queue) gives batches, a worker carries each through the stateless transforms,
// and what must be ordered (stateful transforms, queues to other stages, round
// robin) happens in the order of the head's batches, by whichever worker finds
// its turn come. Between stages lie bounded queues; those that could deadlock
// spill to disk instead of blocking.
package pipeline
