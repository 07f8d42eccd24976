package words

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

func TestPhrases(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	since, until, size := noon.AddDate(0, 0, -9), noon.AddDate(0, 0, 5).Add(-12*time.Hour), int64(2048)
	two, none := int64(2), int64(0)
	hourly := &api.Schedule{IntervalSeconds: 3600, Enabled: true}
	for _, row := range []struct{ got, want string }{
		{ShortSpan(-1), "0 s"}, {ShortSpan(12), "12 s"}, {ShortSpan(41 * 60), "41 min"},
		{ShortSpan(2*3600 + 300), "2 h 5 min"}, {ShortSpan(3 * 86400), "3 days"},
		{RunInterval(6 * 3600), "Every 6 hours"}, {RunInterval(3600), "Every hour"}, {RunInterval(90), "Every 90 seconds"},
		{RunInterval(86400), "Every day"}, {RunInterval(0), "Every 1 second"},
		{TimeAgo(noon.Add(-20*time.Second), noon), "just now"}, {TimeAgo(noon.Add(time.Hour), noon), "just now"},
		{TimeAgo(noon.Add(-5*time.Minute), noon), "5 minutes ago"}, {TimeAgo(noon.Add(-5*time.Hour), noon), "5 hours ago"},
		{TimeAgo(noon.Add(-49*time.Hour), noon), "2 days ago"},
		{CountAtLeast(12, true), "at least 12"}, {CountAtLeast(1200, false), "1,200"},
		{SizeOrCounting(nil), "still counting"}, {SizeOrCounting(&size), "2.0 KiB"},
		{ConnectionSchedule(true, hourly), "By the collector on the device"},
		{ConnectionSchedule(false, nil), "Only when you ask"}, {ConnectionSchedule(false, hourly), "Every hour"},
		{ConnectionSchedule(false, &api.Schedule{IntervalSeconds: 3600}), "Every hour, paused"},
		{SignInMethod("recovery_code"), "Recovery code"}, {SignInMethod("passkey"), "Passkey"},
		{SignInMethod("password"), "Password"},
		{RecoveryCodesLeft(api.RecoveryCodes{}), "None made yet"},
		{RecoveryCodesLeft(api.RecoveryCodes{Made: 10, Left: 7}), "7 of 10 left"},
		{DeviceUndone(api.DeviceUndone{Restored: 1, Deleted: 2}), "1 record is as it was before, 2 records were deleted"},
		{ImportUndo(api.Import{UndoDeletes: &two, UndoKeeps: &none}),
			"2 records came only from this file and are deleted; their history stays. " +
				"The next run reads everything else again."},
		{GapAttempts(&api.Gap{}), "Not tried yet"}, {GapAttempts(&api.Gap{Attempts: 2}), "Tried 2 times"},
		{GrantMode(SingleUse), "Once: each stream can be read through one time"},
		{GrantMode("continuous"), "Again and again, until it ends"},
		{GrantUsage(api.Grant{Uses: 1, Records: 30}), "1 read, 30 records"},
		{GrantRange(api.GrantStream{}, noon), ""},
		{GrantRange(api.GrantStream{Since: &since, Until: &until}, noon), "1 March 2026 to 14 March 2026"},
		{GrantRange(api.GrantStream{Since: &since}, noon), "1 March 2026 onwards"},
		{GrantRange(api.GrantStream{Until: &until, Resources: []string{"a"}}, noon), "up to 14 March 2026, 1 chosen record"},
		{GrantRange(api.GrantStream{Resources: []string{"top", "low"}, ResourceField: "shelf"}, noon),
			"only where Shelf is top or low"},
	} {
		if row.got != row.want {
			t.Errorf("%q, want %q", row.got, row.want)
		}
	}
}

func TestPacePhrases(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ got, want string }{
		{RequestRate(83.3333), "83"}, {RequestRate(12345.6), "12,346"}, {RequestRate(2.54), "2.5"}, {RequestRate(2), "2"},
		{RequestRate(1e-9), "under 0.1"}, {RequestRate(0), "0"}, {RequestRate(1e300), "1,000,000,000,000,000"},
		{RequestsPerMinute(30), "30 a minute"},
		{RequestInterval(0), ""}, {RequestInterval(60), "every 1.0 s"}, {RequestInterval(120), "every 0.50 s"},
		{RequestInterval(0.5), "every 2 min"}, {RequestInterval(1e-300), "every 11,574,074 days"},
		{BackoffReason(false), "slowed down after a refusal"}, {BackoffReason(true), "the source asked for a pause"},
	} {
		if row.got != row.want {
			t.Errorf("%q, want %q", row.got, row.want)
		}
	}
	at := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	pace := api.Pace{Runs: []api.RunPace{{RunID: "run_1", Backoffs: []api.Backoff{{At: at}, {At: at.Add(time.Hour)}}},
		{RunID: "run_2", Backoffs: []api.Backoff{{At: at.Add(time.Minute)}}}}}
	if b, run := LastBackoff(&pace); b == nil || !b.At.Equal(at.Add(time.Hour)) || run != "run_1" {
		t.Errorf("the last back-off is %+v of %s", b, run)
	}
	if b, _ := LastBackoff(&api.Pace{}); b != nil {
		t.Errorf("a back-off of no runs: %+v", b)
	}
}
