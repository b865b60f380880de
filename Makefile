# Two commands matter: `make run` and `make test`. What they do stands in make.py, which needs only Python.
export PORT BIND DEMO_LANGUAGE UPGRADE MINUTES REPEAT SEED ONLY

.PHONY: help run team test fast lock format map bench faults clean

help:
	@echo 'make run     serve TaskMonkey here and print a link that signs you in (PORT=8000 BIND=127.0.0.1 DEMO_LANGUAGE=en)'
	@echo 'make team    the same by PostgreSQL, Redis, two web processes and two workers (PORT, BIND, DEMO_LANGUAGE)'
	@echo 'make test    check everything'
	@echo 'make fast    check style, types, layers, migrations and what is tested in no time: for every change'
	@echo 'make format  lay the code out as the checks want it'
	@echo 'make map     copy every module caption into docs/architecture.md'
	@echo 'make lock    compile requirements*.in into the hashed locks (UPGRADE=1 takes newer releases)'
	@echo 'make bench   measure TaskMonkey next to a bare relay on this machine'
	@echo 'make faults  kill and measure for an hour, and write docs/promises.md (MINUTES=60 REPEAT=5 SEED=, or ONLY=P9)'
	@echo 'make clean   remove the environment and the caches; the data stays'

run team test fast lock format map bench faults clean:
	@python3 make.py $@
