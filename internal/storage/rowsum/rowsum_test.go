package rowsum

import "testing"

// TestSum checks that order does not matter and that everything else does.
func TestSum(t *testing.T) {
	sum := func(rows ...[]any) string {
		var s Sum
		for _, row := range rows {
			if err := s.Add(row); err != nil {
				t.Fatal(err)
			}
		}
		return s.Hash()
	}
	pear, plum := []any{int64(1), "pear", nil}, []any{int64(2), "plum", []byte{0}}
	if sum(pear, plum) != sum(plum, pear) {
		t.Error("the order of rows matters")
	}
	seen := map[string]int{}
	for i, rows := range [][][]any{{}, {pear}, {pear, pear}, {pear, plum}, {{"a", "b"}}, {{"ab", ""}},
		{{[]byte("a"), "b"}}, {{int64(1)}}, {{1.0}}, {{nil}}, {{nil, nil}}} {
		if other, ok := seen[sum(rows...)]; ok {
			t.Errorf("rows %d and %d have the same hash", other, i)
		}
		seen[sum(rows...)] = i
	}
	if err := new(Sum).Add([]any{true}); err == nil {
		t.Error("a value that no database has was hashed")
	}
}
