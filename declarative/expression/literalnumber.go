package expression

import (
	"math/big"
	"strconv"
	"strings"
)

// number reads an integer or a float.
func (r *literalReader) number() (Value, bool) {
	rest := r.text[r.at:]
	if len(rest) > 2 && rest[0] == '0' && strings.IndexByte("xXoObB", rest[1]) >= 0 {
		return r.prefixed(rest)
	}
	end := digitsEnd(rest, 0)
	whole := end
	isFloat := false
	if end < len(rest) && rest[end] == '.' {
		fraction := digitsEnd(rest, end+1)
		if whole == 0 && fraction == end+1 {
			return Value{}, false
		}
		isFloat, end = true, fraction
	}
	if end > 0 && end < len(rest) && (rest[end] == 'e' || rest[end] == 'E') {
		from := end + 1
		if from < len(rest) && (rest[from] == '+' || rest[from] == '-') {
			from++
		}
		exponent := digitsEnd(rest, from)
		if exponent == from {
			return Value{}, false
		}
		isFloat, end = true, exponent
	}
	if end == 0 || end < len(rest) && (isWordByte(rest[end]) || rest[end] == '.' || rest[end] >= 0x80) {
		return Value{}, false
	}
	r.at += end
	return decimalValue(strings.ReplaceAll(rest[:end], "_", ""), isFloat)
}

// decimalValue returns the number of a decimal text. An integer has no leading zeros.
func decimalValue(text string, isFloat bool) (Value, bool) {
	if isFloat {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil && err.(*strconv.NumError).Err != strconv.ErrRange {
			return Value{}, false
		}
		return FloatValue(f), true
	}
	if len(text) > maxDigits || len(text) > 1 && text[0] == '0' && strings.Trim(text, "0") != "" {
		return Value{}, false
	}
	return digitsValue(text)
}

// prefixed reads an integer such as 0x1f.
func (r *literalReader) prefixed(rest string) (Value, bool) {
	end := 2
	for end < len(rest) && isWordByte(rest[end]) {
		end++
	}
	if strings.HasSuffix(rest[:end], "_") || strings.Contains(rest[:end], "__") {
		return Value{}, false
	}
	r.at += end
	n, ok := new(big.Int).SetString(rest[:end], 0)
	if !ok {
		return Value{}, false
	}
	return bigValue(n), true
}
