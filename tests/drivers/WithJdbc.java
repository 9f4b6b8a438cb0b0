import java.math.BigDecimal;
import java.sql.*;
import java.util.Properties;

/* The driver knows TCP, which needs a password; Unix sockets are junixsocket's. */
public class WithJdbc {
	public static void main(String[] arguments) throws Exception {
		Properties p = new Properties();
		p.setProperty("user", System.getenv("PGUSER"));
		p.setProperty("sslmode", "disable");
		String at = System.getenv("PGHOST"), port = System.getenv("PGPORT");
		if (at.startsWith("/")) {
			p.setProperty("socketFactory",
				"org.newsclub.net.unix.AFUNIXSocketFactory$FactoryArg");
			p.setProperty("socketFactoryArg",
				at + "/.s.PGSQL." + port);
			at = "localhost";
		} else {
			p.setProperty("password", System.getenv("PGPASSWORD"));
		}
		try (Connection c = DriverManager.getConnection(
			"jdbc:postgresql://" + at + ":" + port + "/" +
			System.getenv("PGDATABASE"), p)) {
			run(c);
		}
	}

	private static void run(Connection c) throws SQLException {
		PreparedStatement put = c.prepareStatement(
			"INSERT INTO item (name, price) VALUES (?, ?)");
		put.setString(1, "fig");
		put.setBigDecimal(2, new BigDecimal("2.25"));
		put.executeUpdate();
		PreparedStatement get = c.prepareStatement(
			"SELECT * FROM item WHERE name = ?");
		/* The server prepares it at the fifth time. */
		for (int i = 0; i < 8; i++) {
			get.setString(1, "fig");
			ResultSet fig = get.executeQuery();
			fig.next();
			if (i == 7)
				System.out.println("prepared " + fig.getString(2) +
					" " + fig.getBigDecimal(3));
		}
		c.setAutoCommit(false);
		Statement s = c.createStatement();
		s.executeUpdate("DELETE FROM item");
		c.rollback();
		/* By a cursor of the protocol. */
		s.setFetchSize(1);
		int count = 0;
		ResultSet all = s.executeQuery("SELECT id FROM item");
		while (all.next()) count++;
		System.out.println("rolled back " + count);
		c.commit();
		c.setAutoCommit(true);
		try {
			s.executeUpdate("INSERT INTO item (name) VALUES ('plum')");
		} catch (SQLException e) {
			System.out.println("error " + e.getSQLState());
		}
		get.setString(1, "plum");
		ResultSet r = get.executeQuery();
		r.next();
		StringBuilder raw = new StringBuilder();
		for (byte b : r.getBytes(8)) raw.append(String.format("%02x", b));
		System.out.println("types " + r.getInt(1) + " " + r.getString(2) +
			" " + r.getBigDecimal(3) + " " + r.getBoolean(4) + " " +
			r.getDate(5) + " " + String.join(",",
				(String[])r.getArray(6).getArray()) + " " +
			r.getLong(7) + " " + raw + " " + r.getObject(9));
	}
}
