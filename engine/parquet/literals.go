package parquet

import (
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/huff0"
)

// A Zstandard frame (RFC 8878) of Huffman-coded literals and no sequences: what is
// left of the format when nothing repeats. The encoder of the library looks for
// repetitions all the same, which takes most of its time.
const (
	frameMagic     = 0xfd2fb528
	frameSingle    = 1 << 5 // descriptor: the window is the content
	literalsBlock  = 128 << 10
	leastLiterals  = 1 << 10 // below, a Huffman table does not pay
	blockRaw       = 0
	blockRLE       = 1
	blockCoded     = 2
	literalsCoded  = 2 // literals section: Huffman-coded, with a table
	fourStreams18  = 3 // four streams, sizes of 18 bits
	literalsHeader = 5
)

// literalsLoss is by how many percent a page may be larger for it.
const literalsLoss = 15

// appendLiterals appends a frame of body.
func appendLiterals(dst, body []byte, s *huff0.Scratch) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, frameMagic)
	switch n := len(body); {
	case n < 1<<8:
		dst = append(dst, frameSingle, byte(n))
	case n < 1<<16+1<<8:
		dst = binary.LittleEndian.AppendUint16(append(dst, frameSingle|1<<6), uint16(n-1<<8))
	default:
		dst = binary.LittleEndian.AppendUint32(append(dst, frameSingle|2<<6), uint32(n))
	}
	for {
		block := body[:min(len(body), literalsBlock)]
		body = body[len(block):]
		dst = appendLiteralsBlock(dst, block, len(body) == 0, s)
		if len(body) == 0 {
			return dst
		}
	}
}

func appendLiteralsBlock(dst, block []byte, last bool, s *huff0.Scratch) []byte {
	head := func(kind, size int) {
		h := uint32(size)<<3 | uint32(kind)<<1
		if last {
			h |= 1
		}
		dst = append(dst, byte(h), byte(h>>8), byte(h>>16))
	}
	if len(block) >= leastLiterals {
		s.Reuse = huff0.ReusePolicyNone
		coded, _, err := huff0.Compress4X(block, s)
		switch {
		case errors.Is(err, huff0.ErrUseRLE):
			head(blockRLE, len(block))
			return append(dst, block[0])
		case err == nil && literalsHeader+len(coded)+1 < len(block):
			head(blockCoded, literalsHeader+len(coded)+1)
			h := literalsCoded | fourStreams18<<2 | uint64(len(block))<<4 | uint64(len(coded))<<22
			dst = append(dst, byte(h), byte(h>>8), byte(h>>16), byte(h>>24), byte(h>>32))
			return append(append(dst, coded...), 0) // no sequences
		}
	}
	head(blockRaw, len(block))
	return append(dst, block...)
}
