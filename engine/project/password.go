package project

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha1" //nolint:gosec // Hop derives its AES key with it
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
)

// The prefixes that Hop's password encoders put before an encoded password.
const (
	prefixHop  = "Encrypted "
	prefixAES  = "AES "
	prefixAES2 = "AES2 "
)

// Variables that configure Hop's password encoders.
const (
	variableAESKey     = "HOP_AES_ENCODER_KEY"
	variableAESKeyFile = "HOP_AES_ENCODER_KEY_FILE"
	variableSeed       = "HOP_TWO_WAY_PASSWORD_ENCODER_SEED"
)

// defaultSeed is Hop's well-known seed: "Encrypted" values are hidden from
// eyes, not from anybody who looks.
const defaultSeed = "0933910847463829827159347601486730416058"

// ErrNoPasswordKey means that an AES encoded password was met and no key is
// configured: the user has to set HOP_AES_ENCODER_KEY or
// HOP_AES_ENCODER_KEY_FILE.
var ErrNoPasswordKey = errors.New("no key for AES encoded passwords")

// ErrBadPassword means that an encoded password is damaged, or was made with
// another key.
var ErrBadPassword = errors.New("encoded password cannot be decoded")

// PasswordKeys is what decoding needs besides the text. The zero value decodes
// Hop's own encoding.
type PasswordKeys struct {
	Seed string // decimal; empty is Hop's default
	AES  Secret // empty when AES is not in use
}

// PasswordKeysOf reads the keys from the variables that Hop reads them from: a
// key, else a file with it, whose line ends at the end do not count. The error
// is that of reading the file.
func PasswordKeysOf(scope *Variables) (PasswordKeys, error) {
	seed, _ := scope.Get(variableSeed)
	keys := PasswordKeys{Seed: seed}
	key, err := resolvedVariable(scope, variableAESKey)
	if err != nil || key != "" {
		keys.AES = NewSecret(key)
		return keys, err
	}
	file, err := resolvedVariable(scope, variableAESKeyFile)
	if err != nil || file == "" {
		return keys, err
	}
	path, ok := LocalPath(file)
	if !ok {
		return keys, fmt.Errorf("read the password key: %s=%s is not a local file; copy the key to one", variableAESKeyFile, file)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return keys, fmt.Errorf("read the password key named by %s: %w", variableAESKeyFile, err)
	}
	keys.AES = NewSecret(strings.TrimRight(string(data), "\r\n"))
	return keys, nil
}

func resolvedVariable(scope *Variables, name string) (string, error) {
	value, _ := scope.Get(name)
	return scope.Resolve(value)
}

// IsEncodedPassword tells whether the text carries the prefix of one of Hop's
// password encoders.
func IsEncodedPassword(text string) bool {
	return strings.HasPrefix(text, prefixHop) || strings.HasPrefix(text, prefixAES) || strings.HasPrefix(text, prefixAES2)
}

// ResolvePassword substitutes the variables of a password setting and decodes
// the result, in this order, as Hop does. A value without a prefix is the
// password itself.
func ResolvePassword(scope *Variables, setting string) (Secret, error) {
	text, err := scope.Resolve(setting)
	if err != nil {
		return Secret{}, err
	}
	if !IsEncodedPassword(text) {
		return NewSecret(text), nil
	}
	keys, err := PasswordKeysOf(scope)
	if err != nil {
		return Secret{}, err
	}
	return DecodePassword(text, keys)
}

// DecodePassword decodes by the prefix of the text; without one the text is
// the password. Errors wrap ErrNoPasswordKey or ErrBadPassword and never hold
// the text.
func DecodePassword(text string, keys PasswordKeys) (Secret, error) {
	if encoded, ok := strings.CutPrefix(text, prefixHop); ok {
		return decodeHop(encoded, keys.Seed)
	}
	if encoded, ok := strings.CutPrefix(text, prefixAES2); ok {
		return decodeAES(encoded, keys.AES, openGCM)
	}
	if encoded, ok := strings.CutPrefix(text, prefixAES); ok {
		return decodeAES(encoded, keys.AES, openECB)
	}
	return NewSecret(text), nil
}

// EncodePassword gives the text that Hop stores for a password. One that
// contains a variable is stored as it is.
func EncodePassword(password string) string {
	if usesVariable(password) {
		return password
	}
	return prefixHop + encodeHop(password, "")
}

// usesVariable follows Hop's search: the name has at least one character.
func usesVariable(text string) bool {
	for _, t := range []token{unixToken, windowsToken, resolverToken} {
		for rest := text; ; {
			_, inner, opened := strings.Cut(rest, t.open)
			if !opened {
				break
			}
			if len(inner) > 1 && strings.Contains(inner[1:], t.close) {
				return true
			}
			rest = inner
		}
	}
	return false
}

func seedOf(seed string) *big.Int {
	if seed == "" {
		seed = defaultSeed
	}
	n, ok := new(big.Int).SetString(seed, 10)
	if !ok {
		return nil
	}
	return n
}

func encodeHop(password, seed string) string {
	if password == "" {
		return ""
	}
	n := signedFromBytes([]byte(password))
	return n.Xor(n, seedOf(seed)).Text(16)
}

func decodeHop(encoded, seed string) (Secret, error) {
	if encoded == "" {
		return Secret{}, nil
	}
	s := seedOf(seed)
	if s == nil {
		return Secret{}, fmt.Errorf("%w: %s is not a decimal number", ErrBadPassword, variableSeed)
	}
	n, ok := new(big.Int).SetString(encoded, 16)
	if !ok || strings.Contains(encoded, "_") {
		return Secret{}, fmt.Errorf("%w: what follows %q is not hexadecimal; enter the password again", ErrBadPassword, strings.TrimSpace(prefixHop))
	}
	return NewSecret(string(signedBytes(n.Xor(n, s)))), nil
}

// signedFromBytes reads big-endian two's complement, as Java's BigInteger.
func signedFromBytes(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(b))*8))
	}
	return n
}

// signedBytes writes the shortest big-endian two's complement, at least one
// byte, as Java's BigInteger.
func signedBytes(n *big.Int) []byte {
	size := 0
	if n.Sign() >= 0 {
		size = n.BitLen()/8 + 1
	} else {
		size = new(big.Int).Not(n).BitLen()/8 + 1
		n = new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(size)*8))
	}
	return n.FillBytes(make([]byte, size))
}

func decodeAES(encoded string, key Secret, open func(key, data []byte) ([]byte, error)) (Secret, error) {
	if encoded == "" {
		return Secret{}, nil
	}
	if key.IsEmpty() {
		return Secret{}, fmt.Errorf("%w; set the variable %s or %s", ErrNoPasswordKey, variableAESKey, variableAESKeyFile)
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return Secret{}, fmt.Errorf("%w: it is not Base64; enter the password again", ErrBadPassword)
	}
	plain, err := open([]byte(key.Reveal()), data)
	if err != nil {
		return Secret{}, fmt.Errorf("%w: it was made with another key, or is damaged; check %s", ErrBadPassword, variableAESKey)
	}
	return NewSecret(string(plain)), nil
}

var errAES = errors.New("wrong key or damaged text")

// openECB undoes Hop's AES encoder: AES-128 in ECB mode with PKCS#5 padding
// under the first half of the SHA-1 of the key.
func openECB(key, data []byte) ([]byte, error) {
	sum := sha1.Sum(key) //nolint:gosec // Hop derives its AES key with it
	block, err := aes.NewCipher(sum[:16])
	if err != nil {
		return nil, err
	}
	size := block.BlockSize()
	if len(data) == 0 || len(data)%size != 0 {
		return nil, errAES
	}
	plain := make([]byte, len(data))
	for at := 0; at < len(data); at += size {
		block.Decrypt(plain[at:], data[at:])
	}
	padding := int(plain[len(plain)-1])
	if padding == 0 || padding > size {
		return nil, errAES
	}
	for _, b := range plain[len(plain)-padding:] {
		if int(b) != padding {
			return nil, errAES
		}
	}
	return plain[:len(plain)-padding], nil
}

// openGCM undoes Hop's AES2 encoder: AES-128 in GCM mode under the first
// sixteen bytes of the SHA-512 of the key. The nonce is the first twelve bytes
// of the text; early releases of the encoder used the key itself as the nonce.
func openGCM(key, data []byte) ([]byte, error) {
	const nonceSize = 12
	sum := sha512.Sum512(key)
	block, err := aes.NewCipher(sum[:16])
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	if len(data) >= nonceSize {
		if plain, err := gcm.Open(nil, data[:nonceSize], data[nonceSize:], nil); err == nil {
			return plain, nil
		}
	}
	early, err := cipher.NewGCMWithNonceSize(block, 16)
	if err != nil {
		return nil, err
	}
	return early.Open(nil, sum[:16], data, nil)
}
