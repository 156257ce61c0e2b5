// Package paint draws a scene into an RGBA image, in pure Go and without a
// window: the designer canvas, the execution graph, the replay plan, mini-map,
// tool tips and exported pictures all come from here.
//
// A Painter holds fonts and bounded caches; a Frame says what to draw (scene,
// view, theme, marks). Paint draws all of it, Repaint only some rectangles.
// The cost grows with pixels, not with nodes, and memory does not grow with
// the number of zoom steps. Text is laid out left to right without shaping;
// scripts that need it are drawn letter by letter.
//
// The fonts under fonts/ are Noto Sans (SIL Open Font License 1.1) and DejaVu
// Sans Mono (Bitstream Vera licence), unmodified, each with its licence.
package paint
