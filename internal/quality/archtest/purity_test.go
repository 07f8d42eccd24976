package archtest

import "testing"

func TestImpurityFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ at, src, want string }{
		"reads the clock": {"governor", "package p\nimport \"time\"\nvar t = time.Now()\n",
			"governor/file0.go:3: uses time.Now"},
		"keeps the clock":   {"governor", "package p\nimport \"time\"\nvar clock = time.Now\n", "uses time.Now"},
		"renames the clock": {"governor", "package p\nimport tm \"time\"\nvar t = tm.Since\n", "uses time.Since"},
		"hides the clock":   {"governor", "package p\nimport . \"time\"\nvar t = Now()\n", "uses time.."},
		"counts down":       {"manifest", "package p\nimport \"time\"\nvar t = time.Until\n", "uses time.Until"},
		"sleeps":            {"protocol", "package p\nimport \"time\"\nfunc f() { time.Sleep(1) }\n", "uses time.Sleep"},
		"waits": {"internal/judge/cadence", "package p\nimport \"time\"\nfunc f() { <-time.After(1) }\n",
			"uses time.After"},
		"sets a timer": {"internal/judge/health", "package p\nimport \"time\"\nvar t = time.NewTimer(1)\n",
			"uses time.NewTimer"},
		"ticks": {"internal/judge/health", "package p\nimport \"time\"\nvar t = time.NewTicker(1)\n",
			"uses time.NewTicker"},
		"calls back": {"internal/judge/health", "package p\nimport \"time\"\nvar t = time.AfterFunc(1, nil)\n",
			"uses time.AfterFunc"},
		"starts a goroutine": {"internal/judge/evidence", "package p\nfunc f() { go f() }\n", "starts a goroutine"},
		"prints": {"internal/judge/evidence", "package p\nimport \"fmt\"\nfunc f() { fmt.Println() }\n",
			"uses fmt.Println"},
		"takes now": {"internal/judge/verdict",
			"package p\nimport \"time\"\nfunc f(at, now time.Time) bool { return at == now }\n", "takes now"},
		"makes a moment": {"internal/judge/verdict", "package p\nimport \"time\"\nvar t = time.Unix(1, 0)\n",
			"uses time.Unix"},
		"parses a moment": {"internal/judge/verdict", "package p\nimport \"time\"\nvar t, _ = time.Parse(\"\", \"\")\n",
			"uses time.Parse"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantOffences(t, CheckPurity([]Package{pkg(t, c.at, c.src)}), c.want)
		})
	}
}

func TestImpureImportsFound(t *testing.T) {
	t.Parallel()
	for _, room := range PureRooms {
		for _, imported := range outsideWorld {
			wantOffences(t, CheckPurity([]Package{importing(t, room, imported)}), "imports "+imported)
		}
	}
}

func TestPureCodePasses(t *testing.T) {
	t.Parallel()
	wantOffences(t, CheckPurity([]Package{
		pkg(t, "internal/judge/health",
			"package p\nimport \"time\"\nfunc age(at, now time.Time) time.Duration { return now.Sub(at) }\n"),
		pkg(t, "internal/judge/verdict",
			"package p\nimport \"time\"\nconst day = 24 * time.Hour\ntype v struct{ at time.Time }\n"+
				"func old(age time.Duration) bool { return age > day }\n"),
		pkg(t, "governor", "// governor_test.go\npackage p\nimport \"time\"\nvar t = time.Now()\n"),
		pkg(t, "internal/collect/runner",
			"package p\nimport (\"os\"; \"time\")\nvar _, t = os.Stdin, time.Now()\nfunc f() { go f() }\n"),
	}))
}
