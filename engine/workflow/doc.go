// Package workflow runs workflows: actions joined by hops that are followed
// always, on success or on failure.
//
// A Graph is a loaded workflow with decoded settings. A Runner prepares an
// Execution from a file; the Execution walks the hops depth-first, as Hop does,
// without recursion, so that loops may turn as often as they like. Branches of a
// parallel action run at once and meet at the action, or at a JOIN.
//
// What an action does is left to the families in engine/actions; pipelines are
// run by engine/pipeline.
package workflow
