package carrier

import "fmt"

// maxStringBytes is what one string of an environment may hold on Linux, with
// the variable's name, '=' and the closing NUL (MAX_ARG_STRLEN with 4 KiB pages,
// the smallest there is). A longer one makes every exec fail with E2BIG, which
// says neither which variable nor what in it.
const maxStringBytes = 131072

// A TooLongError says that a list does not fit into the environment. Nothing has
// been changed.
type TooLongError struct {
	Size    int    // bytes of the environment string, name and NUL included
	Limit   int    // bytes that it may have
	Key     string // the attribute that takes most
	KeySize int    // bytes that it takes, encoded
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("the carrier needs %d bytes of the %d that an environment string may have; the largest attribute is %s with %d",
		e.Size, e.Limit, printable(e.Key), e.KeySize)
}

// fit returns the text of the pairs, or a *TooLongError.
func fit(pairs []pair) (string, error) {
	text := join(pairs)
	size := len(Variable) + len("=") + len(text) + len("\x00")
	if size <= maxStringBytes {
		return text, nil
	}
	largest := pairs[0]
	for _, p := range pairs {
		if p.size() > largest.size() {
			largest = p
		}
	}
	return "", &TooLongError{Size: size, Limit: maxStringBytes, Key: largest.key, KeySize: largest.size()}
}
