// Package canvas is the graph widget of the desktop: a Fyne widget that shows
// a scene, painted into one raster, and reports what the user wants as
// intentions of package gesture.
//
// It is a thin adapter. Geometry lives in scene, pixels in paint, the state of
// pointer and keyboard in gesture; all three are plain Go and tested without a
// window. The widget knows no pipelines: whoever owns the document builds a
// scene.Graph, sets it, and answers OnIntent. With the build tag "headless"
// only the three sub-packages remain.
//
// Like all widgets it belongs to the goroutine of the user interface.
package canvas
