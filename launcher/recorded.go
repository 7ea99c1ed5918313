package launcher

import "lenslaunch/internal/rundir"

// recorded is what the launcher sets for its ranks: alike for all, and where they
// differ.
func (p *Plan) recorded(a Attempt) (list []rundir.RankInfo, alike map[string]string) {
	for local := range p.World.LocalSize {
		w := Worker{Local: local, Rank: p.World.Rank(local)}
		list = append(list, rundir.RankInfo{Rank: w.Rank, Local: local, Env: p.variables(w, a)})
	}
	alike = map[string]string{}
	for key, value := range list[0].Env {
		if everywhere(list, key, value) {
			alike[key] = value
		}
	}
	for _, r := range list {
		for key := range alike {
			delete(r.Env, key)
		}
	}
	return list, alike
}

func everywhere(list []rundir.RankInfo, key, value string) bool {
	for _, r := range list {
		if other, ok := r.Env[key]; !ok || other != value {
			return false
		}
	}
	return true
}
