package browserhistory

import "context"

func readSafari(ctx context.Context, h *historyReader) error {
	if ok, err := h.hasColumns(ctx, "history_visits", "id", "history_item", "visit_time"); err != nil || !ok {
		return firstError(err, missingTableError("history_visits"))
	}
	if ok, err := h.hasColumns(ctx, "history_items", "id", "url"); err != nil || !ok {
		return firstError(err, missingTableError("history_items"))
	}
	own, err := h.columnList(ctx, "history_visits", "t", "title", "redirect_source", "origin")
	if err != nil {
		return err
	}
	return h.readTable(ctx, historyTable{
		name: "history_visits", epoch: epochSince2001, far: recheckDepth,
		at:     "CAST(round(t.visit_time * 1000000) AS INTEGER)",
		window: "t.visit_time >= ?2",
		fields: append([]string{"t.visit_time", "i.url"}, own...),
		joined: "LEFT JOIN history_items i ON i.id = t.history_item",
		take: func(row []any) {
			url, host := cleanAddress(row[3])
			v := visitRecord{
				ID: h.rowKey(row[0], row[1]), Browser: h.browser, Profile: h.profile, URL: url, Host: host,
				Title: boundedText(row[4], maxTitleBytes), Timestamp: epochSince2001.formatTime(row[2]),
				From: nonZeroInteger(row[5]),
			}
			if row[6] != nil {
				synced := integerValue(row[6]) != 0
				v.Synced = &synced
			}
			h.emitRecord("visits", host, len(url)+len(v.Title), &v)
		},
	})
}
