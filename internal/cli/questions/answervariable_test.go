package questions

import (
	"testing"
)

func TestAnswerVariable(t *testing.T) {
	for field, want := range map[string]string{"code": "PDPP_ANSWER_CODE", "one-time code": "PDPP_ANSWER_ONE_TIME_CODE",
		"größe2": "PDPP_ANSWER_GR__E2"} {
		if got := answerVariable(field); got != want {
			t.Errorf("%s: %s, want %s", field, got, want)
		}
	}
}
