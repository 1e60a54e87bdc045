package edge_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
)

func TestFailures(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

	t.Run("ten_in_a_minute_may_fail_and_the_rest_has_to_wait_for_its_end", func(t *testing.T) {
		t.Parallel()
		f := edge.NewFailures()
		for i := range 10 {
			if wait := f.Add("192.0.2.1:999", now.Add(time.Duration(i)*time.Second)); wait != 0 {
				t.Errorf("failure %d has to wait %v", i, wait)
			}
		}
		if wait := f.Add("192.0.2.1:1000", now.Add(20*time.Second)); wait != 40*time.Second {
			t.Errorf("the eleventh has to wait %v", wait)
		}
		if wait := f.Add("192.0.2.2:999", now.Add(20*time.Second)); wait != 0 {
			t.Errorf("another address has to wait %v", wait)
		}
		if wait := f.Add("192.0.2.1:999", now.Add(time.Minute)); wait != 0 {
			t.Errorf("after a minute it has to wait %v", wait)
		}
	})
	t.Run("the_addresses_of_an_IPv6_network_are_one", func(t *testing.T) {
		t.Parallel()
		f := edge.NewFailures()
		var wait time.Duration
		for i := range 11 {
			wait = f.Add(fmt.Sprintf("[2001:db8:0:1::%d]:999", i+1), now)
		}
		if wait != time.Minute {
			t.Errorf("the eleventh address has to wait %v", wait)
		}
		if wait := f.Add("[2001:db8:0:2::1]:999", now); wait != 0 {
			t.Errorf("another network has to wait %v", wait)
		}
		if wait := f.Add("[::ffff:192.0.2.1]:999", now); wait != 0 {
			t.Errorf("a mapped address has to wait %v", wait)
		}
	})
	t.Run("the_memory_is_bounded", func(t *testing.T) {
		t.Parallel()
		f := edge.NewFailures()
		for i := range 40000 {
			f.Add(fmt.Sprintf("[2001:db8:%x:%x::1]:999", i>>8, i&255), now)
		}
		if n := f.Len(); n != 1<<14 {
			t.Errorf("%d addresses are counted", n)
		}
	})
}
