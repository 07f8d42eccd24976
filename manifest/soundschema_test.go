package manifest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// schemaValues are valid and invalid values of keywords.
var schemaValues = map[string][]string{
	"type": {
		`"string"`,
		`"object"`,
		`["string","null"]`,
		`["null","null"]`,
		`[]`,
		`["thing"]`,
		`"thing"`,
		`3`,
		`["integer",3]`,
	},
	"required":             {`["a"]`, `["a","b"]`, `[]`, `["a","a"]`, `"a"`, `[1]`, `{}`},
	"enum":                 {`["a","b"]`, `["a","a"]`, `[null,true]`, `[]`, `[1e999999999]`, `"a"`, `[["a"]]`, `{}`},
	"minLength":            {`0`, `3`, `-1`, `1.5`, `"1"`, `1e999999999`, `99999999999999999999`, `null`},
	"maxItems":             {`0`, `7`, `-1`, `2.0`, `true`},
	"minimum":              {`0`, `-1.5`, `1e3`, `1e999999999`, `"0"`},
	"title":                {`"t"`, `1`, `null`},
	"format":               {`"date-time"`, `"nothing"`, `1`},
	"x_role":               {`"amount"`, `{"type":3}`, `1e999999999`},
	"pattern":              {`"a+"`, `"("`},
	"$ref":                 {`"#/properties/a"`, `"other.json"`},
	"$schema":              {`"http://json-schema.org/draft-04/schema#"`, `"nothing"`},
	"$id":                  {`"https://other.invalid/"`, `"#a b"`},
	"unknown":              {`1`, `[{}]`},
	"type\",\"type":        {`"string"`}, // and a value that is missing
	"additionalProperties": {`true`, `false`, `{"type":"thing"}`, `1`},
}

// drawSchema draws a schema of few keywords, the deeper the fewer.
func drawSchema(rng *rand.Rand, depth int) string {
	if rng.IntN(12) == 0 {
		return []string{`true`, `false`, `{}`, `null`, `[]`, `"string"`}[rng.IntN(6)]
	}
	var members []string
	for _, word := range slices.Sorted(maps.Keys(schemaValues)) {
		if values := schemaValues[word]; rng.IntN(12) == 0 {
			members = append(members, `"`+word+`":`+values[rng.IntN(len(values))])
		}
	}
	if rng.IntN(2+depth) == 0 {
		members = append(members, `"items":`+drawSchema(rng, depth+1))
	}
	if rng.IntN(2+depth) == 0 {
		second := []string{"b", "b", "b", "a"}[rng.IntN(4)]
		members = append(members, `"properties":{"a":`+drawSchema(rng, depth+1)+`,"`+second+`":{}}`)
	}
	return `{` + strings.Join(members, ",") + `}`
}

// Sound schemas compile.
func TestSoundSchemasCompile(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	sound, faulty := 0, 0
	for range 4000 {
		schema := drawSchema(rng, 0)
		_, err := compileSchema([]byte(schema))
		if err != nil {
			faulty++
		}
		if soundSchema([]byte(schema)) {
			sound++
			if err != nil {
				t.Fatalf("%s: %v", schema, err)
			}
		}
	}
	if sound < 400 || faulty < 400 {
		t.Errorf("of 4000 schemas %d were called sound, and %d do not compile", sound, faulty)
	}
}

func TestSoundSchema(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","required":["id"],"properties":{"id":{"type":"string","minLength":1,"x_pdpp_role":"key"},` +
			`"n":{"type":["integer","null"],"minimum":-1.5}}}`: true,
		`{"type":"object","additionalProperties":{"type":"array","items":{"enum":["a",null]},"maxItems":3},` +
			`"description":"d"}`: true,
		`{"type":"object","properties":{"a":{"type":"thing"}}}`: false,
		`{"type":"object","properties":{"a":{"$ref":"#"}}}`:     false,
		`{"type":"object","type":"object"}`:                     false,
		`{"type":"object"} {}`:                                  false,
		`{"type":"object"`:                                      false,
		`true`:                                                  false,
		``:                                                      false,
	} {
		if got := soundSchema([]byte(schema)); got != want {
			t.Errorf("%s is sound: %v", schema, got)
		}
	}
}
