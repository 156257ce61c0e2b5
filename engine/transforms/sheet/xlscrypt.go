package sheet

import (
	"bytes"
	"crypto/md5"
	"crypto/rc4"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"unicode/utf16"

	"sluice/engine/project"
)

// defaultPassword is what Excel encrypts with when only the structure of a
// workbook is protected.
const defaultPassword = "VelvetSweatshop"

const blockSize = 1024

// decrypt replaces the stream from an offset on by its plain text ([MS-OFFCRYPTO]
// 2.3.6 and 2.3.5: RC4 with MD5, and RC4 of the CryptoAPI). Record headers and a
// few records are not encrypted.
func (b *xlsBook) decrypt(pass []byte, password project.Secret, from int) error {
	le := binary.LittleEndian
	if len(pass) < 6 || le.Uint16(pass) != 1 {
		return fmt.Errorf("the workbook is encrypted in an old way (XOR) that is not supported; save it as .xlsx")
	}
	candidates := []string{defaultPassword}
	if !password.IsEmpty() {
		candidates = []string{password.Reveal(), defaultPassword}
	}
	for _, word := range candidates {
		var key func(block uint32) []byte
		var err error
		if le.Uint16(pass[2:]) == 1 && le.Uint16(pass[4:]) == 1 {
			key, err = rc4Key(pass[6:], word)
		} else {
			key, err = cryptoAPIKey(pass[6:], word)
		}
		if err != nil {
			return err
		}
		if key != nil {
			return b.decipher(key, from)
		}
	}
	if password.IsEmpty() {
		return fmt.Errorf("the file is encrypted; give its password")
	}
	return fmt.Errorf("the file cannot be decrypted: the password is wrong")
}

func utf16LE(s string) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

// rc4Key checks a password against salt, verifier and its hash; nil when it is
// wrong.
func rc4Key(header []byte, password string) (func(uint32) []byte, error) {
	if len(header) < 48 {
		return nil, errDamaged
	}
	salt, verifier, hash := header[:16], header[16:32], header[32:48]
	h0 := md5.Sum(utf16LE(password))
	var many []byte
	for range 16 {
		many = append(append(many, h0[:5]...), salt...)
	}
	h1 := md5.Sum(many)
	key := func(block uint32) []byte {
		k := md5.Sum(binary.LittleEndian.AppendUint32(append([]byte(nil), h1[:5]...), block))
		return k[:]
	}
	plain := make([]byte, 32)
	c, err := rc4.NewCipher(key(0))
	if err != nil {
		return nil, err
	}
	c.XORKeyStream(plain, append(append([]byte(nil), verifier...), hash...))
	if sum := md5.Sum(plain[:16]); !bytes.Equal(sum[:], plain[16:]) {
		return nil, nil
	}
	return key, nil
}

// cryptoAPIKey is rc4Key for the CryptoAPI's form.
func cryptoAPIKey(header []byte, password string) (func(uint32) []byte, error) {
	le := binary.LittleEndian
	if len(header) < 8 {
		return nil, errDamaged
	}
	size := int(le.Uint32(header[4:]))
	if len(header) < 8+size+60 || size < 20 {
		return nil, errDamaged
	}
	bits := int(le.Uint32(header[8+16:]))
	if bits == 0 {
		bits = 40
	}
	rest := header[8+size:]
	salt, verifier, hash := rest[4:20], rest[20:36], rest[40:60]
	h0 := sha1.Sum(append(append([]byte(nil), salt...), utf16LE(password)...))
	key := func(block uint32) []byte {
		k := sha1.Sum(le.AppendUint32(append([]byte(nil), h0[:]...), block))
		if bits == 40 {
			return append(k[:5:5], make([]byte, 11)...)
		}
		return k[:bits/8]
	}
	plain := make([]byte, 36)
	c, err := rc4.NewCipher(key(0))
	if err != nil {
		return nil, err
	}
	c.XORKeyStream(plain, append(append([]byte(nil), verifier...), hash...))
	if sum := sha1.Sum(plain[:16]); !bytes.Equal(sum[:], plain[16:]) {
		return nil, nil
	}
	return key, nil
}

// decipher decrypts the records from an offset on. The key changes every 1,024
// bytes of the stream, and plain bytes use it up too.
func (b *xlsBook) decipher(key func(uint32) []byte, from int) error {
	out := append([]byte(nil), b.stream...)
	mask := make([]byte, len(out)+blockSize)
	for block := 0; block*blockSize < len(out); block++ {
		c, err := rc4.NewCipher(key(uint32(block)))
		if err != nil {
			return err
		}
		part := mask[block*blockSize : (block+1)*blockSize]
		c.XORKeyStream(part, part)
	}
	for at := from; at+4 <= len(out); {
		id, size := int(binary.LittleEndian.Uint16(out[at:])), int(binary.LittleEndian.Uint16(out[at+2:]))
		end := min(at+4+size, len(out))
		start := at + 4
		switch id {
		case recBOF, recFilePass, 0x00E1, 0x00E2, 0x0138, 0x0194, 0x0195:
			start = end
		case recBoundSheet:
			start += 4
		}
		for i := start; i < end; i++ {
			out[i] ^= mask[i]
		}
		at = end
	}
	b.stream = out
	return nil
}
