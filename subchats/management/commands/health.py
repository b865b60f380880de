"""Says whether a research could go ahead: settings, models, keys, explorer; never the indexes (A-41)."""

import json
from argparse import ArgumentParser
from dataclasses import replace
from typing import Any

from django.core.management.base import BaseCommand

from subchats.research.config import Config, check_timeout, read_config, source_of
from subchats.research.health import check_health
from subchats.research.health_report import as_lines, as_report


class Command(BaseCommand):
    help = "Checks settings, models, keys and the explorer, and asks both models one small thing. Exit code 0, 1 or 2."
    # It has to tell what is wrong with a site on which a check already fails.
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--config", help="a file with the settings (default: TASKMONKEY_CONFIG, then the data directory)")
        parser.add_argument("--tenant", help="the team's slug (default: the settings', else the only one)")
        parser.add_argument("--skip-probes", action="store_true", help="ask no model anything; keys are still looked for")
        parser.add_argument("--timeout-ms", help="longest time for one model's answer (default 10000)")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        def read() -> Config:
            given = options["timeout_ms"]
            limit = None if given is None else check_timeout(given, field="--timeout-ms")
            config = read_config(options["config"], adopt=False)
            return replace(config, timeout_ms=limit or config.timeout_ms, tenant=options["tenant"] or config.tenant)

        health = check_health(read, source=source_of(options["config"]), skip_probes=options["skip_probes"])
        lines = [json.dumps(as_report(health), ensure_ascii=False)] if options["json"] else as_lines(health)
        self.stdout.write("\n".join(lines))
        if health.exit_code:
            raise SystemExit(health.exit_code)
