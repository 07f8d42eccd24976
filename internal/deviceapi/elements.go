package deviceapi

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/protocol"
)

// eachElement hands over the elements of an array that is known to be JSON.
func eachElement(array jsontext.Value, use func(n int, element jsontext.Value) error) error {
	for n, i := 0, skipSpace(array, 1); array[i] != ']'; n++ {
		end := valueEnd(array, i)
		if err := use(n, array[i:end:end]); err != nil {
			return err
		}
		if i = skipSpace(array, end); array[i] == ',' {
			i = skipSpace(array, i+1)
		}
	}
	return nil
}

func skipSpace(b []byte, i int) int {
	for b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r' {
		i++
	}
	return i
}

// valueEnd is where the value ends that begins at i.
func valueEnd(b []byte, i int) int {
	for depth := 0; ; i++ {
		switch b[i] {
		case '"':
			for i, _ = protocol.TextStop(b, i+1); b[i] != '"'; i, _ = protocol.TextStop(b, i+2) { // behind what is escaped
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i // the array's own end, behind a number or a word
			}
		case ',':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
}
