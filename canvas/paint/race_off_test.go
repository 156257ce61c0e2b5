//go:build !race

package paint_test

const raceEnabled = false
