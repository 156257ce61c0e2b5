//go:build !headless

package canvas

import "sluice/canvas/scene"

// ShowTipForTest shows a tool tip without waiting for the clock.
func (g *Graph) ShowTipForTest(hit scene.Hit, at scene.Point) { g.showTip(hit, at) }
