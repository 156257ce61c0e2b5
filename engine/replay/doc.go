// Package replay proves that an execution can be replayed, plans what the replay
// takes from the record, what it runs and what it leaves out, and runs it.
//
// A Source is the record of one execution with everything below it, from the
// store of this machine or from a remote. Preflight turns a Source, the project
// as it is now and the choices of a person into a Plan: checks, steps, an
// estimate and a token. It writes nothing and opens nothing but snapshots. Run
// makes a new execution by the plan; the original is never touched.
//
// The unit of a plan is a run of an action, keyed by call path, node and ordinal,
// or a transform of a pipeline. See the architecture, chapter 8, for the table of
// checks.
package replay
