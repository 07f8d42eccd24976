package providersim

import "testing"

func TestTokenLife(t *testing.T) {
	t.Parallel()
	tokens := NewTokens("first", "read", "write")
	steps := []struct {
		change  TokenChange
		first   TokenState // of "first" asking for write
		current TokenState // of the token in force asking for write
	}{
		{TokenChange{Action: "scopes", Scopes: []string{"read"}}, TokenUnderScoped, TokenUnderScoped},
		{TokenChange{Action: "expire"}, TokenExpired, TokenExpired},
		{TokenChange{Action: "rotate"}, TokenRevoked, TokenActive},
		{TokenChange{Action: "revoke"}, TokenRevoked, TokenRevoked},
		{TokenChange{Action: "rotate", Token: "third"}, TokenRevoked, TokenActive},
		{TokenChange{Action: "scopes"}, TokenRevoked, TokenUnderScoped},
	}
	if got := tokens.Check("Bearer first", "write"); got != TokenActive {
		t.Fatalf("fresh token is %s", got)
	}
	for _, s := range steps {
		now, err := tokens.Change(s.change)
		if err != nil {
			t.Fatal(err)
		}
		if got := tokens.Check("Bearer first", "write"); got != s.first {
			t.Errorf("after %s the first token is %s, want %s", s.change.Action, got, s.first)
		}
		if got := tokens.Check("Bearer "+now.Token, "write"); got != s.current {
			t.Errorf("after %s the current token is %s, want %s", s.change.Action, got, s.current)
		}
	}
	if got := tokens.Current().Token; got != "third" {
		t.Errorf("current token %q, want third", got)
	}
	if got := tokens.Check("Bearer third", ""); got != TokenActive {
		t.Errorf("without a scope to ask for: %s", got)
	}
	for _, bad := range []TokenChange{{}, {Action: "burn"}, {Action: "rotate", Token: "first"},
		{Action: "rotate", Token: "a b"}, {Action: "scopes", Scopes: []string{"admin"}}} {
		if _, err := tokens.Change(bad); err == nil {
			t.Errorf("accepted %+v", bad)
		}
	}
}

func TestTokenPlacement(t *testing.T) {
	t.Parallel()
	tokens := NewTokens("secret")
	cases := map[string]struct {
		state TokenState
		label string
	}{
		"Bearer secret":   {TokenActive, "token-1"},
		"bearer secret":   {TokenActive, "token-1"},
		"Bearer other":    {TokenRevoked, "unknown"},
		"":                {TokenMissing, "none"},
		"secret":          {TokenMissing, "none"},
		"Bearer":          {TokenMissing, "none"},
		"Bearer ":         {TokenMissing, "none"},
		"Bearer  secret":  {TokenMissing, "none"},
		"Basic secret":    {TokenMissing, "none"},
		"Bearer secret x": {TokenMissing, "none"},
	}
	for header, want := range cases {
		if state, label := tokens.Check(header, ""), tokens.Label(header); state != want.state || label != want.label {
			t.Errorf("%q: %s %s, want %s %s", header, state, label, want.state, want.label)
		}
	}
}
