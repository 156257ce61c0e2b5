// Package locale gives the process a language before the window toolkit asks for it.
//
// The toolkit reads the language while its packages are initialised, and complains on
// the standard error when there is none, or the one of the C library, which is no
// language; the commands of a build with a window would do so too. Packages are
// initialised in the order of their paths, as soon as what they import is: this one
// imports as little as possible, so that it comes before the toolkit's.
package locale

import "os"

func init() { set() }

func set() {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		switch value := os.Getenv(name); {
		case value == "":
		case noLanguage(value):
			_ = os.Unsetenv(name) // fails for impossible names alone
		default:
			return
		}
	}
	_ = os.Setenv("LANG", "en_US.UTF-8")
}

func noLanguage(locale string) bool {
	return locale == "C" || locale == "POSIX" || len(locale) > 1 && locale[:2] == "C."
}
