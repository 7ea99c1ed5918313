package screen

import "unicode/utf8"

// sequences are what terminals send for keys that are no characters, in the modes that
// they may be in.
func sequences() map[string]Key {
	return map[string]Key{
		"[A": KeyUp, "OA": KeyUp, "[B": KeyDown, "OB": KeyDown, "[5~": KeyPageUp, "[6~": KeyPageDown,
		"[H": KeyHome, "OH": KeyHome, "[1~": KeyHome, "[7~": KeyHome, "[F": KeyEnd, "OF": KeyEnd, "[4~": KeyEnd, "[8~": KeyEnd,
	}
}

const escape = 0x1b

// longestSequence bounds what may follow an escape character.
const longestSequence = 32

// decode takes the keys at the beginning of what was read and returns them and the
// rest, which is the beginning of a key. Sequences of other keys are passed over. A
// lone escape character is the beginning of one: nothing is bound to the escape key.
func decode(text []byte) (keys []Key, rest []byte) {
	for len(text) > 0 {
		if text[0] != escape && !utf8.FullRune(text) {
			return keys, text
		}
		if text[0] != escape {
			r, size := utf8.DecodeRune(text)
			keys, text = append(keys, Key(r)), text[size:]
			continue
		}
		size, whole := sequence(text[1:])
		if !whole && len(text) <= longestSequence {
			return keys, text
		}
		if key, ok := sequences()[string(text[1:1+size])]; ok {
			keys = append(keys, key)
		}
		text = text[1+size:]
	}
	return keys, nil
}

// sequence is how much of what follows an escape character belongs to it, and whether
// that is all of it.
func sequence(text []byte) (size int, whole bool) {
	switch {
	case len(text) == 0:
		return 0, false
	case text[0] == escape:
		return 0, true // another one begins
	case text[0] == 'O':
		return min(2, len(text)), len(text) > 1
	case text[0] != '[':
		return 1, true
	}
	for i := 1; i < len(text); i++ {
		if text[i] >= '@' && text[i] <= '~' {
			return i + 1, true
		}
	}
	return 0, false
}
