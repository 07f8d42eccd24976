package mail

import "testing"

func TestBegins(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"From mara@example.org Mon Jan  5 10:00:00 2026": true, "From - Mon Jan 05 10:00:00 2026": true,
		"From 17@xxx Mon Jan 05 10:00:00 +0000 2026\r\n": true, "From -\n": true, "From \n": true,
		"From here to 2026": false, "From: mara": false, "from mara 10:00 2026": false,
		">From mara Mon Jan 5 10:00:00 2026": false, "From the boat at 10:00": false,
	} {
		if beginsMessage([]byte(line)) != want {
			t.Errorf("%q", line)
		}
	}
}
