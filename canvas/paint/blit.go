package paint

import "image"

// sprite is a small picture with transparency (premultiplied RGBA); origin is
// the pixel that is placed.
type sprite struct {
	w, h, ox, oy int
	pix          []uint8
	solid        [][2]int // per row the longest run without transparency
}

// seal finds the runs of pixels that can be copied; the sprite is ready then.
func (s *sprite) seal() {
	s.solid = make([][2]int, s.h)
	for y := range s.h {
		start := -1
		for x := 0; x <= s.w; x++ {
			opaque := x < s.w && s.pix[(y*s.w+x)*4+3] == 255
			if opaque && start < 0 {
				start = x
			}
			if !opaque && start >= 0 {
				if run := s.solid[y]; x-start > run[1]-run[0] {
					s.solid[y] = [2]int{start, x}
				}
				start = -1
			}
		}
	}
}

// blit draws a sprite with its origin at (x, y).
func (r *raster) blit(s *sprite, x, y int, alpha uint32) {
	left, top := x-s.ox, y-s.oy
	area := image.Rect(left, top, left+s.w, top+s.h).Intersect(r.clip)
	from, to := area.Min.X-left, area.Max.X-left
	for py := area.Min.Y; py < area.Max.Y; py++ {
		line := s.pix[(py-top)*s.w*4 : (py-top+1)*s.w*4]
		row := r.row(py, area.Min.X, area.Max.X)
		if alpha != 255 {
			fadeRow(row, line[from*4:to*4], alpha)
			continue
		}
		solid := s.solid[py-top]
		a, b := max(from, min(to, solid[0])), max(from, min(to, solid[1]))
		blitRow(row[:(a-from)*4], line[from*4:a*4])
		copy(row[(a-from)*4:(b-from)*4], line[a*4:b*4])
		blitRow(row[(b-from)*4:], line[b*4:to*4])
	}
}

func blitRow(dst, src []uint8) {
	for i := 0; i+4 <= len(src) && i+4 <= len(dst); i += 4 {
		s, d := src[i:i+4:i+4], dst[i:i+4:i+4]
		switch s[3] {
		case 0:
		case 255:
			d[0], d[1], d[2] = s[0], s[1], s[2]
		default:
			n := uint32(255 - s[3])
			d[0] = s[0] + uint8(div255(uint32(d[0])*n))
			d[1] = s[1] + uint8(div255(uint32(d[1])*n))
			d[2] = s[2] + uint8(div255(uint32(d[2])*n))
		}
	}
}

func fadeRow(dst, src []uint8, alpha uint32) {
	for i := 0; i < len(src); i += 4 {
		s, d := src[i:i+4:i+4], dst[i:i+4:i+4]
		if s[3] == 0 {
			continue
		}
		n := 255 - div255(uint32(s[3])*alpha)
		for k := range 3 {
			d[k] = uint8(min(255, div255(uint32(s[k])*alpha)+div255(uint32(d[k])*n)))
		}
	}
}
