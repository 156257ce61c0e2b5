// Package scene is the geometry of a graph on a canvas: where tiles, labels,
// hops and notes are, what lies under a point, and how the view maps the
// document to the screen.
//
// A Graph is the plain description that a caller builds; a Scene is the graph
// made ready for questions (routes, hit tests, spatial index); a View is pan
// and zoom. The package knows neither pipelines nor pixels: painting is the
// business of package paint, turning pointer events into edits that of package
// gesture. A Scene is owned by one goroutine.
package scene
