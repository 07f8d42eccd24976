package protocol

import "testing"

func TestPlainMember(t *testing.T) {
	for name, plain := range map[string]bool{
		"author": true, "m.relates_to": true, "$type": true, "@odata.context": true, "sha256": true, "image_1200": true,
		"X-WR-CALNAME": true,
		"":             false, "mara@example.org": false, "!room:example.org": false, "dQw4w9WgXcQ": false, "0f8fad5b": false,
		"Due date": false,
		"20260301": false, "user_4711003": false, "Zoë": false, "a/b": false,
	} {
		if PlainMember(name) != plain {
			t.Errorf("PlainMember(%q) = %v", name, !plain)
		}
	}
}

// What a run did not measure stays as it was; what it measured replaces it.
func TestDriftAfter(t *testing.T) {
	before := &AnswerDrift{
		Answers: 4, Differences: []AnswerDifference{{Kind: NewMember, Member: "colour", Count: 1}},
		Total: &AnnouncedTotal{300, 53}, Beginning: &HistoryBeginning{365},
	}
	if got := (*AnswerDrift)(nil).After(before); len(got.Differences) != 1 || !got.Total.Short() ||
		!got.Beginning.Suspicious() {
		t.Errorf("a run that measured nothing: %+v", got)
	}
	if got := (&AnswerDrift{Answers: 2}).After(before); len(got.Differences) != 0 || !got.Total.Short() {
		t.Errorf("a run that compared answers: %+v", got)
	}
	if got := (&AnswerDrift{Answers: 2, Total: &AnnouncedTotal{53, 53},
		Beginning: &HistoryBeginning{}}).After(before); got != nil {
		t.Errorf("a run that measured everything: %+v", got)
	}
}
