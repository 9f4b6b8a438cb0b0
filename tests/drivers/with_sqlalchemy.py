from sqlalchemy import MetaData, create_engine, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.automap import automap_base
from sqlalchemy.orm import Session
import words

engine = create_engine("postgresql+psycopg2://")
base = automap_base(metadata=MetaData())
base.prepare(autoload_with=engine)
Item = base.classes.item
with Session(engine) as s:
    s.add(Item(name="fig", price="2.25"))
    s.commit()
    fig = s.scalars(select(Item).where(Item.name == "fig")).one()
    print("prepared", fig.name, fig.price)
    for item in s.scalars(select(Item)):
        s.delete(item)
    s.flush()
    s.rollback()
    print("rolled back", s.scalar(select(func.count()).select_from(Item)))
    try:
        with s.begin_nested():
            s.add(Item(name="plum"))
    except IntegrityError as e:
        print("error", e.orig.pgcode)
    p = s.scalars(select(Item).where(Item.name == "plum")).one()
    words.types((p.id, p.name, p.price, p.good, p.made, p.tags, p.big, p.raw,
                 p.nothing))
