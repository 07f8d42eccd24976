package health

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
)

func TestQuestionThatExpiresFirstComesFirst(t *testing.T) {
	question := func(id string, opened time.Duration, expires *time.Time) evidence.Attention {
		return evidence.Attention{
			ID: id, Lifecycle: evidence.AttentionOpen, Reason: "otp_required", Target: "sign-in", OpenedAt: noon.Add(-opened),
			ExpiresAt: expires,
		}
	}
	urgent := question("urgent", time.Minute, at(time.Minute))
	later := question("later", time.Hour, at(time.Hour))
	older := question("older", 2*time.Hour, at(time.Hour))
	open := question("open", 3*time.Hour, nil)
	oldest := question("oldest", 4*time.Hour, nil)
	over := question("over", time.Minute, at(0))
	cases := []struct {
		want string
		of   []evidence.Attention
	}{
		{"urgent", []evidence.Attention{open, later, urgent, older}},
		{"older", []evidence.Attention{later, older, oldest}},
		{"later", []evidence.Attention{open, later, over}},
		{"oldest", []evidence.Attention{open, oldest}},
	}
	for _, c := range cases {
		e := good()
		e.Attention = c.of
		next := Project(e, noon).Snapshot.NextAction
		if next == nil || string(next.AttentionID) != c.want || next.Target != "sign-in" {
			t.Errorf("want %s: %+v", c.want, next)
		}
	}
	e := good()
	e.Attention = []evidence.Attention{over}
	if next := Project(e, noon).Snapshot.NextAction; next != nil {
		t.Errorf("a question that is over is next: %+v", next)
	}
}
