package browserhistory

import "context"

func readSafari(ctx context.Context, h *history) error {
	if ok, err := h.has(ctx, "history_visits", "id", "history_item", "visit_time"); err != nil || !ok {
		return either(err, formError("history_visits"))
	}
	if ok, err := h.has(ctx, "history_items", "id", "url"); err != nil || !ok {
		return either(err, formError("history_items"))
	}
	own, err := h.list(ctx, "history_visits", "t", "title", "redirect_source", "origin")
	if err != nil {
		return err
	}
	return h.rows(ctx, table{
		name: "history_visits", epoch: since2001, far: month, at: "CAST(round(t.visit_time * 1000000) AS INTEGER)", window: "t.visit_time >= ?2",
		fields: append([]string{"t.visit_time", "i.url"}, own...), joined: "LEFT JOIN history_items i ON i.id = t.history_item",
		take: func(row []any) {
			url, host := address(row[3])
			v := visit{
				ID: h.id(row[0], row[1]), Browser: h.browser, Profile: h.profile, URL: url, Host: host, Title: text(row[4], maxTitle), Timestamp: since2001.time(row[2]),
				From: known(row[5]),
			}
			if row[6] != nil {
				synced := integer(row[6]) != 0
				v.Synced = &synced
			}
			h.emit("visits", host, len(url)+len(v.Title), &v)
		},
	})
}
